"""Putting a scene's things where an arrangement has them."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.houses.build import yaw_quat
from sbench_dag.scenes.houses.resting import Arrangement
from sbench_dag.scenes.placing import place_robot
from sbench_dag.scenes.scene import Scene

# where the robot waits while it is only an observer: outside, where it touches nothing and hides nothing
_AWAY = BasePose(-6.0, -6.0, 0.45, 0.0)


def pose(scene: Scene, data: mujoco.MjData, uid: str, x: float, y: float, z: float, yaw: float) -> None:
    """Puts one thing somewhere, at rest. Call mj_forward or mj_kinematics afterwards."""
    obj = scene.objects[uid]
    data.qpos[obj.qpos : obj.qpos + 3] = (x, y, z)
    data.qpos[obj.qpos + 3 : obj.qpos + 7] = yaw_quat(yaw)
    data.qvel[obj.dof : obj.dof + 6] = 0.0


def pose_all(scene: Scene, arrangement: Arrangement) -> mujoco.MjData:
    """A state with everything exactly where it was put, the robot away; never to be stepped.

    What is decided from it does not depend on how a solver settles, and is the same on every machine.
    """
    data = mujoco.MjData(scene.model)
    scene.robot.place_base(data, _AWAY)
    for uid, place in arrangement.places.items():
        pose(scene, data, uid, place.x, place.y, place.z, place.yaw)
    mujoco.mj_kinematics(scene.model, data)
    return data


def park_robot(scene: Scene, data: mujoco.MjData) -> None:
    place_robot(scene, data, _AWAY)


def poses_of(scene: Scene, data: mujoco.MjData, uids: tuple[str, ...]) -> np.ndarray:
    """Position and quaternion (w x y z) of the things, (N, 7)."""
    starts = np.array([scene.objects[uid].qpos for uid in uids])
    return data.qpos[starts[:, None] + np.arange(7)].copy()
