"""One episode, made and written: the story, its film, the end state, the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from sbench_dag.dataset.episode import EpisodeMeta
from sbench_dag.dataset.eval_spec import EvalSpec
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.robot import OPEN_M, BasePose
from sbench_dag.scenes.collision import RobotCollisions
from sbench_dag.scenes.free_floor import FreeFloor, free_floor
from sbench_dag.scenes.houses.home import plan_house
from sbench_dag.scenes.houses.plan import Interior
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.source import build_house
from sbench_dag.scenes.scene import Scene
from sbench_dag.synthetic.files import write_episode, write_last_frame
from sbench_dag.synthetic.film import Film, shoot
from sbench_dag.synthetic.memory import Recording
from sbench_dag.synthetic.physics import play
from sbench_dag.synthetic.places import place_name, true_places
from sbench_dag.synthetic.posing import pose_all
from sbench_dag.synthetic.profiles import EpisodeOrder
from sbench_dag.synthetic.queries import EndOfStory, Place, ask
from sbench_dag.synthetic.recording import record
from sbench_dag.synthetic.scoring import Rule
from sbench_dag.synthetic.story import Story, tell_story
from sbench_dag.synthetic.walk import find_ways

REACH_MIN_M, R_SUPPORT_M = 0.65, 0.85  # the source's
_ROOMY_M = 0.6  # from which on more room is no better
_TURNS = (0.0, 0.5, -0.5, 1.0)


@dataclass(frozen=True)
class MadeEpisode:
    """What answers are made from. homes: where each thing was before anything was moved."""

    order: EpisodeOrder
    spec: EvalSpec
    recording: Recording
    homes: Mapping[str, Place]
    plurals: Mapping[str, str]


def make_episode(order: EpisodeOrder, folder: Path) -> MadeEpisode:
    """Makes an episode and writes its files into `folder`. Depends on nothing but the order."""
    plan = plan_house(order.house_index)
    house, scene = plan.interior, build_house(plan)
    story = tell_story(plan, stable_rng("story", order.seed, order.episode))
    posed = pose_all(scene, story.end)
    floor = free_floor(scene, posed)
    film = _film(story, scene, floor, stable_rng("film", order.seed, order.episode))
    base = _final_base(scene, posed, floor, film)
    played = play(story, film, scene, base)
    places, pieces = true_places(scene, story, played)
    rule = Rule(scene, posed, floor, story.end)
    scoring = {uid: verdict for uid in sorted(places) if (verdict := rule.judge(uid)) is not None}
    end = EndOfStory(plan.home.things, story.moved, places, pieces, scoring)
    queries = ask(end, order.queries, order.number, stable_rng("queries", order.seed, order.episode))
    spec = EvalSpec(order.episode, house.room_names, _furniture(house), REACH_MIN_M, R_SUPPORT_M, queries)
    recording = record(story, film, scene)
    meta = EpisodeMeta(order.episode, "houses", order.house_index, scene.fingerprint, played.uids)
    files = EpisodeFiles(folder)
    write_episode(files, spec, meta, film, recording, played, base)
    write_last_frame(files, scene, played)
    homes = {uid: place_name(house, place) for uid, place in plan.home.places.items()}
    plurals = {thing.category: thing.plural for thing in plan.home.things.values()}
    return MadeEpisode(order, spec, recording, homes, plurals)


def _furniture(house: Interior) -> dict[str, tuple[str, ...]]:
    """Room name -> names of what stands in it."""
    found: dict[str, set[str]] = {name: set() for name in house.room_names.values()}
    for piece in house.furniture:
        found[house.room_names[piece.room]].add(house.piece_names[piece.uid])
    return {room: tuple(sorted(names)) for room, names in found.items()}


def _film(story: Story, scene: Scene, floor: FreeFloor, rng: np.random.Generator) -> Film:
    lying = [(move.end.x, move.end.y) for event in story.events for move in event.moves if move.end.on_floor]
    ways = find_ways(floor, scene.rooms, np.array(lying).reshape(-1, 2))
    return shoot(story, scene, ways, rng)


def _final_base(scene: Scene, posed: mujoco.MjData, floor: FreeFloor, film: Film) -> BasePose:
    """Near where the observer stood last: a roomy spot of that room, the arm clear of everything."""
    last = film.frames[-1].base
    room = scene.room_at(last.x, last.y) or scene.rooms[0]
    x, y = np.meshgrid(np.arange(room.x_min, room.x_max, 0.1), np.arange(room.y_min, room.y_max, 0.1))
    free = floor.is_free(x, y)
    away, clearance = np.hypot(x - last.x, y - last.y), np.minimum(floor.clearance(x, y), _ROOMY_M)
    collisions = RobotCollisions(scene)
    for i in np.argsort(np.round(0.2 * away - clearance, 6), axis=None, kind="stable"):
        for turn in _TURNS if free.flat[i] else ():
            base = BasePose(float(x.flat[i]), float(y.flat[i]), last.height, last.yaw + turn * np.pi)
            collisions.set_world(posed.qpos, base)
            if not collisions.hits(HOME, OPEN_M):
                return base
    raise RuntimeError("the robot finds no place to stand at the end")
