"""The scripted policy: plan a grasp from the object's geometry, go there, close, lift, hold."""

from __future__ import annotations

import numpy as np

from sbench_dag.manipulation.motion import Motion
from sbench_dag.manipulation.planner import PickPath, PickPlanner
from sbench_dag.manipulation.policy import CONTROL_STEP_S, Action, Observation, PickTask
from sbench_dag.robot.fr3 import HOME, SQUEEZE_M
from sbench_dag.robot.kinematics import ArmKinematics
from sbench_dag.scenes.world import World

_TRANSIT_RAD_S, _APPROACH_RAD_S, _LIFT_RAD_S = 1.0, 0.5, 0.4
_SETTLE_STEPS, _CLOSE_STEPS = 4, 9
_HOLD_S = 0.8


class ScriptedPicker:
    """An oracle: it reads the object's pose from the world. What it does with it is friction alone."""

    cameras: tuple[str, ...] = ()
    image_size = (0, 0)

    def __init__(self) -> None:
        self._arm = ArmKinematics()
        self._actions: list[Action] = []

    def begin(self, task: PickTask, world: World) -> None:
        """A second attempt takes the next grasp that is feasible; if there is none, the first one again."""
        planner = PickPlanner(world, world.base, self._arm)
        path = planner.plan(task.instance, skip=task.attempt)
        if path is None and task.attempt:
            path = planner.plan(task.instance)
        self._actions = pick_actions(path)[::-1] if path is not None else []

    def act(self, observation: Observation) -> Action | None:
        """Open loop: the plan was checked, and the arm follows it to within a millimetre."""
        return self._actions.pop() if self._actions else None


def pick_actions(path: PickPath) -> list[Action]:
    """One action per control step: from home to the grasp, close, lift, hold."""
    motion = Motion(HOME, path.width_m)
    for stop in path.transit:
        motion.smoothly_to(stop, _TRANSIT_RAD_S)
    for stop in path.approach:
        motion.straight_to(stop, _APPROACH_RAD_S, at_least_s=0.12)
    motion.wait(_SETTLE_STEPS)
    motion.width_m = SQUEEZE_M
    motion.wait(_CLOSE_STEPS)
    for stop in path.lift:
        motion.straight_to(stop, _LIFT_RAD_S, at_least_s=0.14)
    motion.wait(int(np.ceil(_HOLD_S / CONTROL_STEP_S)))
    return motion.actions
