"""Places by the names that an answer uses."""

from __future__ import annotations

import numpy as np

from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.scenes.houses.plan import Interior
from sbench_dag.scenes.houses.resting import Resting
from sbench_dag.scenes.scene import Furniture, Room, Scene
from sbench_dag.scenes.support import support_map
from sbench_dag.synthetic.physics import Played
from sbench_dag.synthetic.queries import Place
from sbench_dag.synthetic.story import Story

_DRIFT_MAX_M = 0.005


def place_name(house: Interior, at: Resting) -> Place:
    """Room and furniture; a thing inside another one is where that one is."""
    if at.furniture is None:
        return None, FLOOR
    return house.room_names[at.room], house.piece_names[at.furniture]


def true_places(scene: Scene, story: Story, played: Played) -> tuple[dict[str, Place], dict[str, str]]:
    """Per thing its place, and the uid of its furniture, by what it rests on in the settled end state.

    A thing that did not stay where it was put, or that rests on nothing known, has neither.
    """
    names = story.plan.interior.room_names
    places: dict[str, Place] = {}
    pieces: dict[str, str] = {}
    supports = support_map(scene, played.data)
    for uid, settled in zip(played.uids, played.poses[-1], strict=True):
        put, support = story.end.places[uid], supports[uid]
        if np.linalg.norm(settled[:3] - (put.x, put.y, put.z)) > _DRIFT_MAX_M:
            continue
        if isinstance(support, Furniture):
            places[uid], pieces[uid] = (names[support.room], support.name), support.uid
        elif isinstance(support, Room):
            places[uid] = (None, FLOOR)
    return places, pieces
