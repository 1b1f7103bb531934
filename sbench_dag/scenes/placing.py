"""Putting the robot into a scene: its base, its arm, and the camera that watches it over the shoulder."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.frames import look_at
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.scene import Scene

# in the base's frame, from the height of the arm's mount. The head is free wherever a base can stand: the camera is
# moved out from there, to the left if there is room
_HEAD, _TARGET = np.array([0.0, 0.0, 0.75]), np.array([0.45, 0.0, 0.15])
_EYES = np.array([(-0.45, 0.95, 1.05), (-0.85, 0.55, 1.05), (0.15, 1.10, 1.00), (-0.45, -0.95, 1.05)])
_ROOM_ENOUGH = 0.9  # share of the way out at which an eye is taken at once
_MARGIN_M = 0.08


def place_robot(scene: Scene, data: mujoco.MjData, base: BasePose) -> None:
    """Teleports the robot, arm at home and gripper open, and puts the watching camera where it has room."""
    robot = scene.robot
    robot.place_base(data, base)
    robot.set_arm(data, HOME)
    mujoco.mj_kinematics(scene.model, data)
    eye = _eye(scene, data, base)
    data.mocap_pos[robot.exo_mocap] = eye
    data.mocap_quat[robot.exo_mocap] = look_at(eye, base.position + base.rotation @ _TARGET)
    mujoco.mj_forward(scene.model, data)


def _eye(scene: Scene, data: mujoco.MjData, base: BasePose) -> np.ndarray:
    """The first place with room for the camera and a view; where there is none, the best one has to do."""
    head, target = base.position + base.rotation @ _HEAD, base.position + base.rotation @ _TARGET
    best, best_share = head, -2.0
    for offset in _EYES:
        way = base.rotation @ (offset - _HEAD)
        distance = float(np.linalg.norm(way))
        free = clear_distance(scene, data, head, way / distance, distance + _MARGIN_M) - _MARGIN_M
        share = max(free, 0.0) / distance
        eye = head + way * share
        share = share if _sees(scene, data, eye, target) else share - 1.0
        if share > best_share:
            best, best_share = eye, share
        if share >= _ROOM_ENOUGH:
            break
    return best


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


def _sees(scene: Scene, data: mujoco.MjData, eye: np.ndarray, target: np.ndarray) -> bool:
    way = target - eye
    distance = float(np.linalg.norm(way))
    return distance > 0 and clear_distance(scene, data, eye, way / distance, distance) >= distance
