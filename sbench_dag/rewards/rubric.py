"""The simulator's label of a pick, 1 to 5, after RoboReward's rubric (arXiv 2601.00675) but decided by physics.

The label judges the instruction: lifting a twin fulfils "pick up the bowl". Whether it was the right bowl is
Stage C's business.

    1  no success            the robot touched no object of the category
    2  minimal progress      it touched one, but raised none
    3  partial completion    one was raised while something else still touched it, or some of several were lifted
    4  near completion       one was lifted (robot contact only, as the judge says) but not held to the end
    5  all requirements met  one was held for the judge's hold time at the end of an attempt
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbench_dag.manipulation.judge import attempt_ends, hold_steps, lifted_steps
from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace
from sbench_dag.study import JudgeSettings

LABELS = (1, 2, 3, 4, 5)
_RAISED_M = 0.003  # more than an object rises when a finger slides under its edge


def label(trace: Trace, instances: Sequence[str], needed: int, settings: JudgeSettings) -> int:
    """The label of a rollout.

    instances: uids of all objects of the queried category. needed: how many of them the instruction asks for.
    """
    lifted = lifted_steps(trace, settings.lift_m)
    columns = [int(np.flatnonzero(trace.names == uid)[0]) for uid in instances]
    best = sorted((_label_one(trace, lifted[:, column], column, settings) for column in columns), reverse=True)[:needed]
    if not best or len(best) < needed:
        return 1
    return best[-1] if best[-1] >= 4 else min(3, best[0])


def _label_one(trace: Trace, lifted: np.ndarray, column: int, settings: JudgeSettings) -> int:
    attempting = trace.attempt != RETRACTING
    touched = (trace.touch[:, column] & Touch.ROBOT).astype(bool) & attempting
    raised = trace.z[:, column] - trace.start_z[trace.selection, column] >= _RAISED_M
    hold = hold_steps(settings)
    if any(end + 1 >= hold and lifted[end + 1 - hold : end + 1].all() for end in attempt_ends(trace)):
        return 5
    if lifted.any():
        return 4
    if (touched & raised).any():
        return 3
    return 2 if touched.any() else 1
