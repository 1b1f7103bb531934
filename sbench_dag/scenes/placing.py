"""Putting the robot into a scene: its base, its arm, and the camera that watches it over the shoulder."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.frames import look_at
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.scene import Scene

# of the base's frame, from the height of the arm's mount: behind and to the left, looking at the work space
_EYE, _TARGET = np.array([-0.30, 0.80, 0.85]), np.array([0.50, 0.0, 0.05])
_MARGIN_M = 0.08


def place_robot(scene: Scene, data: mujoco.MjData, base: BasePose) -> None:
    """Teleports the robot, arm at home and gripper open. Where a wall is in the way, the camera comes closer."""
    robot = scene.robot
    robot.place_base(data, base)
    robot.set_arm(data, HOME)
    mujoco.mj_kinematics(scene.model, data)
    target = base.position + base.rotation @ _TARGET
    away = base.position + base.rotation @ _EYE - target
    distance = float(np.linalg.norm(away))
    free = clear_distance(scene, data, target, away / distance, distance)
    eye = target + away / distance * (free if free == distance else free - _MARGIN_M)
    data.mocap_pos[robot.exo_mocap] = eye
    data.mocap_quat[robot.exo_mocap] = look_at(eye, target)
    mujoco.mj_forward(scene.model, data)


def clear_distance(scene: Scene, data: mujoco.MjData, start: np.ndarray, direction: np.ndarray, limit: float) -> float:
    """Metres from `start` along the unit vector until something static is hit, at most `limit`."""
    model = scene.model
    geom = np.zeros(1, dtype=np.int32)
    travelled = 0.0
    while travelled < limit:
        hit = mujoco.mj_ray(model, data, start + travelled * direction, direction, None, 1, -1, geom)
        if hit < 0:
            return limit
        travelled += hit
        body = model.geom_bodyid[geom[0]]
        if not scene.robot.bodies[body] and model.body_weldid[body] == 0:
            return min(travelled, limit)
        travelled += 1e-3
    return limit
