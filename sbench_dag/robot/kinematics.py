"""Forward and inverse kinematics of the arm, on a model of the robot alone."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.robot.fr3 import HOME, LOWER, UPPER, robot_model
from sbench_dag.robot.robot import find_robot

POSITION_TOLERANCE_M, ROTATION_TOLERANCE_RAD = 5e-4, 3e-3
_ITERATIONS = 60
_DAMPING = 1e-4
_STEP_MAX_RAD = 0.4
_LIMIT_MARGIN_RAD = 0.02
# pulls the redundant degree of freedom home; the first joint is free to turn towards the target
_POSTURE_GAIN = 0.1 * np.array([0, 1, 1, 1, 1, 1, 0.2])


class ArmKinematics:
    """Damped least squares with a null-space posture: 0.5 ms for a cold solve, 0.1 ms from a neighbouring pose.

    benchmarks/ik.py compares it with mink, which takes several times as long for a whole path.
    """

    def __init__(self) -> None:
        self._model = robot_model()
        self._robot = find_robot(self._model)
        self._data = mujoco.MjData(self._model)
        self._dof = self._model.jnt_dofadr[[self._model.joint(f"robot/joint{i}").id for i in range(1, 8)]]
        self._jacp = np.zeros((3, self._model.nv))
        self._jacr = np.zeros((3, self._model.nv))

    def forward(self, arm_qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and rotation (3, 3) of the tool centre point in the base's frame."""
        self._data.qpos[self._robot.arm_qpos] = arm_qpos
        mujoco.mj_kinematics(self._model, self._data)
        site = self._robot.tcp_site
        return self._data.site_xpos[site].copy(), self._data.site_xmat[site].reshape(3, 3).copy()

    def inverse(self, position: np.ndarray, rotation: np.ndarray, start: np.ndarray) -> np.ndarray | None:
        """Joint positions (7,) within the limits that put the tool there, in the base's frame; None if there are none."""
        q = start.copy()
        for _ in range(_ITERATIONS):
            error = self._error(q, position, rotation)
            if np.linalg.norm(error[:3]) < POSITION_TOLERANCE_M and np.linalg.norm(error[3:]) < ROTATION_TOLERANCE_RAD:
                return q
            mujoco.mj_jacSite(self._model, self._data, self._jacp, self._jacr, self._robot.tcp_site)
            jacobian = np.vstack([self._jacp[:, self._dof], self._jacr[:, self._dof]])
            pseudo = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + _DAMPING * np.eye(6))
            step = pseudo @ error + (np.eye(7) - pseudo @ jacobian) @ (_POSTURE_GAIN * (HOME - q))
            largest = np.abs(step).max()
            q = q + step * min(1.0, _STEP_MAX_RAD / largest if largest > 0 else 1.0)
            q = np.clip(q, LOWER + _LIMIT_MARGIN_RAD, UPPER - _LIMIT_MARGIN_RAD)
        return None

    def _error(self, q: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """(6,): metres and radians from where q puts the tool to where it should be."""
        now_position, now_rotation = self.forward(q)
        mujoco.mj_comPos(self._model, self._data)
        quat, turn = np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(quat, (rotation @ now_rotation.T).ravel())
        mujoco.mju_quat2Vel(turn, quat, 1.0)
        return np.concatenate([position - now_position, turn])
