"""Bringing the arm home between attempts and selections: the harness's doing, not the policy's."""

from __future__ import annotations

import numpy as np

from sbench_dag.manipulation.motion import Motion
from sbench_dag.manipulation.policy import Action
from sbench_dag.robot.fr3 import HOME, SQUEEZE_M
from sbench_dag.robot.kinematics import ArmKinematics
from sbench_dag.robot.robot import OPEN_M
from sbench_dag.scenes.world import World

_RAD_S, _SLOW_RAD_S = 0.8, 0.4
_OPEN_STEPS = 6
_RISE_M = 0.10
_WAYPOINTS = 5


def retract_actions(world: World, lower_m: float) -> list[Action]:
    """Lower what was lifted by `lower_m` (0: nothing was), open the gripper, back off, and go home."""
    robot, arm = world.scene.robot, ArmKinematics()
    motion = Motion(world.data.qpos[robot.arm_qpos].copy(), SQUEEZE_M if lower_m > 0 else OPEN_M)
    if lower_m > 0:
        _move(motion, arm, np.array([0.0, 0.0, -lower_m]))
        motion.width_m = OPEN_M
    motion.wait(_OPEN_STEPS)
    _, rotation = arm.forward(motion.arm_qpos)
    _move(motion, arm, -rotation[:, 2] * _RISE_M)
    motion.smoothly_to(HOME, _RAD_S)
    return motion.actions


def _move(motion: Motion, arm: ArmKinematics, way: np.ndarray) -> None:
    """Along a straight line as far as the arm reaches."""
    position, rotation = arm.forward(motion.arm_qpos)
    for share in np.linspace(0.0, 1.0, _WAYPOINTS + 1)[1:]:
        solved = arm.inverse(position + way * share, rotation, motion.arm_qpos)
        if solved is None:
            return
        motion.straight_to(solved, _SLOW_RAD_S, at_least_s=0.12)
