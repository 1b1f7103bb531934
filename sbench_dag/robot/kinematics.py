"""Forward and inverse kinematics of the arm, on a model of the robot alone, with mink.

On a model of the whole house the quadratic programme would carry every other joint along.
"""

from __future__ import annotations

import mink
import mujoco
import numpy as np

from sbench_dag.robot.fr3 import HOME, robot_model
from sbench_dag.robot.robot import TCP, find_robot

POSITION_TOLERANCE_M, ROTATION_TOLERANCE_RAD = 5e-4, 3e-3
_ITERATIONS = 60
_STALLED = 12  # iterations without getting closer after which a target counts as out of reach
_DT_S = 1.0  # of an iteration: the whole step that the solver proposes


class ArmKinematics:
    """Where the tool is for joint positions, and joint positions for where the tool should be."""

    def __init__(self) -> None:
        self._model = robot_model()
        self._robot = find_robot(self._model)
        self._data = mujoco.MjData(self._model)
        self._configuration = mink.Configuration(self._model)
        self._tool = mink.FrameTask(TCP, "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
        self._posture = mink.PostureTask(self._model, cost=1e-3)
        self._limits = [mink.ConfigurationLimit(self._model)]

    def forward(self, arm_qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and rotation (3, 3) of the tool centre point in the base's frame."""
        self._data.qpos[self._robot.arm_qpos] = arm_qpos
        mujoco.mj_kinematics(self._model, self._data)
        site = self._robot.tcp_site
        return self._data.site_xpos[site].copy(), self._data.site_xmat[site].reshape(3, 3).copy()

    def inverse(self, position: np.ndarray, rotation: np.ndarray, start: np.ndarray) -> np.ndarray | None:
        """Joint positions (7,) within the limits that put the tool there, in the base's frame, or None.

        Of the many that do, those nearest to home are preferred.
        """
        self._posture.set_target(self._full(HOME))
        self._configuration.update(self._full(start))
        self._tool.set_target(mink.SE3.from_rotation_and_translation(mink.SO3.from_matrix(rotation), position))
        best, since = np.inf, 0
        for _ in range(_ITERATIONS):
            error = self._tool.compute_error(self._configuration)
            off_m, off_rad = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
            if off_m < POSITION_TOLERANCE_M and off_rad < ROTATION_TOLERANCE_RAD:
                return self._configuration.q[self._robot.arm_qpos].copy()
            best, since = (off_m + off_rad, 0) if off_m + off_rad < best else (best, since + 1)
            if since > _STALLED:
                return None
            tasks = [self._tool, self._posture]
            velocity = mink.solve_ik(self._configuration, tasks, _DT_S, "daqp", damping=1e-4, limits=self._limits)
            self._configuration.integrate_inplace(velocity, _DT_S)
        return None

    def _full(self, arm_qpos: np.ndarray) -> np.ndarray:
        qpos = self._model.qpos0.copy()
        qpos[self._robot.arm_qpos] = arm_qpos
        return qpos
