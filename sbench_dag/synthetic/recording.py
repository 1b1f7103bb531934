"""What there was to see and to log in an episode."""

from __future__ import annotations

import mujoco

from sbench_dag.scenes.scene import Scene
from sbench_dag.synthetic.film import Film
from sbench_dag.synthetic.memory import Entry, Recording
from sbench_dag.synthetic.places import place_name
from sbench_dag.synthetic.posing import pose, pose_all
from sbench_dag.synthetic.story import Story
from sbench_dag.synthetic.visibility import Eyes


def record(story: Story, film: Film, scene: Scene) -> Recording:
    """Told from where things were put, not from how they settled: the same on every machine."""
    house = story.plan.interior
    states = [story.plan.home, *(event.after for event in story.events)]
    eyes = Eyes(scene)
    sightings = []
    for frame in film.frames:
        data = pose_all(scene, states[frame.state])
        for uid, at in frame.carried.items():
            pose(scene, data, uid, *at)
        mujoco.mj_kinematics(scene.model, data)
        seen = eyes.seen(data, frame.base) - set(frame.carried)
        sightings.append({uid: place_name(house, states[frame.state].places[uid]) for uid in sorted(seen)})
    log = [
        Entry(move.uid, *span, place_name(house, move.start), place_name(house, move.end))
        for event, span in zip(story.events, film.spans, strict=True)
        for move in event.moves
    ]
    category = {uid: thing.category for uid, thing in story.plan.home.things.items()}
    return Recording(category, tuple(log), tuple(sightings))
