"""Instructions that the simulator can judge: how many of which category, from where, and where to.

A requirement beyond "pick one up" that is missed leaves 3, partial completion, at most; another category is another
goal altogether, with a label of its own.

    requirement                          missed when
    n of the category                    fewer than n got as far (see rubric.py)
    from a place                         none of those that were there at the start got as far
    put down somewhere                   nothing was let go, so it can't be anywhere else than in the gripper
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sbench_dag.dataset.eval_spec import Steps
from sbench_dag.manipulation.judge import lifted_steps
from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace
from sbench_dag.plans.plan import Plan
from sbench_dag.rewards.rubric import label_over_time
from sbench_dag.study import JudgeSettings

_MISSED = 3


@dataclass(frozen=True)
class Place:
    """Where a thing stands, in words. The floor has no room."""

    room: str | None
    surface: str

    def __str__(self) -> str:
        return f"the {self.surface} in the {self.room}" if self.room else f"the {self.surface}"


@dataclass(frozen=True)
class Goal:
    """An instruction.

    instances: uids of the category. needed: how many of them it asks for.
    source: where it says that they are; there: uids of the instances that really were. put_on: where it wants them.
    """

    category: str
    instances: tuple[str, ...]
    needed: int = 1
    source: Place | None = None
    there: tuple[str, ...] = ()
    put_on: Place | None = None

    @property
    def text(self) -> str:
        wanted = f"Pick up the {self.category}" + f" and another {self.category}" * (self.needed - 1)
        wanted += f" from {self.source}" if self.source else ""
        them = "it" if self.needed == 1 else "them"
        return wanted + (f" and put {them} on {self.put_on}" if self.put_on else "")

    def one_more(self) -> Goal:
        return replace(self, needed=self.needed + 1)


def goal_of(plan: Plan, instances: Iterable[str]) -> Goal:
    """What the policy was told: one of the category, or as many as the query has answers if it asks for them all.

    instances: uids of all objects of the plan's category.
    """
    return Goal(plan.category, tuple(instances), len(plan.gt_bodies) if plan.steps is Steps.MULTI else 1)


def goal_over_time(trace: Trace, goal: Goal, settings: JudgeSettings) -> np.ndarray:
    """(T + 1,) the label of the rollout's beginning after that many control steps; never falls.

    A goal with one requirement more never gets a higher label.

    Raises:
        ValueError: the goal asks to put something down, and something was let go: nobody knows where it lies.
    """
    labels = label_over_time(trace, goal.instances, goal.needed, settings)
    if goal.source is not None:
        right = label_over_time(trace, goal.there, goal.needed, settings)
        labels = np.maximum(right, np.minimum(labels, _MISSED))
    if goal.put_on is not None:
        if was_let_go(trace, goal, settings):
            raise ValueError(f"{goal.text!r}: one was let go, and the trace does not say where it lies")
        labels = np.minimum(labels, _MISSED)
    return labels


def was_let_go(trace: Trace, goal: Goal, settings: JudgeSettings) -> bool:
    """Whether one of the instances was lifted and later, while an attempt ran, not touched by the robot any more."""
    columns = np.isin(trace.names, goal.instances)
    was_lifted = np.maximum.accumulate(lifted_steps(trace, settings.lift_m)[:, columns], axis=0)
    free = (trace.touch[:, columns] & Touch.ROBOT) == 0
    return bool((was_lifted & free & (trace.attempt != RETRACTING)[:, None]).any())
