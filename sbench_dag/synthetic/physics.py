"""The film played in the simulator: what was carried is put down and settles."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.houses.build import yaw_quat
from sbench_dag.scenes.placing import place_robot
from sbench_dag.scenes.scene import Scene
from sbench_dag.synthetic.film import Film
from sbench_dag.synthetic.posing import park_robot, pose, poses_of
from sbench_dag.synthetic.story import Story

_SETTLE_STEPS = 250
_END_STEPS = 600


@dataclass(frozen=True)
class Played:
    """poses: (T, N, 7) of the things in the order of `uids`, the last frame the end state, which `data` holds."""

    uids: tuple[str, ...]
    poses: np.ndarray
    data: mujoco.MjData


def play(story: Story, film: Film, scene: Scene, base: BasePose) -> Played:
    """base: where the robot stands in the end."""
    uids = tuple(sorted(scene.objects))
    row = {uid: i for i, uid in enumerate(uids)}
    data = mujoco.MjData(scene.model)
    park_robot(scene, data)
    mujoco.mj_step(scene.model, data, _SETTLE_STEPS)
    frames, state = [], 0
    for frame in film.frames:
        if frame.state > state:
            _put_down(story, state, scene, data)
            state = frame.state
        now = poses_of(scene, data, uids)
        for uid, (x, y, z, yaw) in frame.carried.items():
            now[row[uid]] = (x, y, z, *yaw_quat(yaw))
        frames.append(now)
    place_robot(scene, data, base)
    mujoco.mj_step(scene.model, data, _END_STEPS)
    frames.append(poses_of(scene, data, uids))
    return Played(uids, np.array(frames), data)


def _put_down(story: Story, event: int, scene: Scene, data: mujoco.MjData) -> None:
    for move in story.events[event].moves:
        end = move.end
        pose(scene, data, move.uid, end.x, end.y, end.z, end.yaw)
    mujoco.mj_forward(scene.model, data)
    mujoco.mj_step(scene.model, data, _SETTLE_STEPS)
