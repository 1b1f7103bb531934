"""Sequences of actions that move the arm at a bounded speed."""

from __future__ import annotations

import numpy as np

from sbench_dag.manipulation.policy import CONTROL_STEP_S, Action


class Motion:
    """Grows a list of actions, one per control step, from where the last one left the arm."""

    def __init__(self, start: np.ndarray, width_m: float):
        self.arm_qpos, self.width_m = start, width_m
        self.actions: list[Action] = []

    def smoothly_to(self, goal: np.ndarray, rad_s: float) -> None:
        """Starts and ends slowly. The fastest joint averages rad_s."""
        steps = self._steps(goal, rad_s, 0.0)
        share = np.arange(1, steps + 1) / steps
        self._go(goal, share * share * (3 - 2 * share))

    def straight_to(self, goal: np.ndarray, rad_s: float, at_least_s: float = 0.0) -> None:
        """At constant speed, for paths of many way-points."""
        steps = self._steps(goal, rad_s, at_least_s)
        self._go(goal, np.arange(1, steps + 1) / steps)

    def wait(self, steps: int) -> None:
        """Stay, with the gripper at its present width."""
        self.actions += [Action(self.arm_qpos, self.width_m)] * steps

    def _steps(self, goal: np.ndarray, rad_s: float, at_least_s: float) -> int:
        seconds = max(float(np.abs(goal - self.arm_qpos).max()) / rad_s, at_least_s)
        return max(1, int(np.ceil(seconds / CONTROL_STEP_S)))

    def _go(self, goal: np.ndarray, shares: np.ndarray) -> None:
        start = self.arm_qpos
        self.actions += [Action(start + (goal - start) * share, self.width_m) for share in shares]
        self.arm_qpos = goal
