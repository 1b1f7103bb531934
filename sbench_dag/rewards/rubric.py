"""The simulator's label of a pick, 1 to 5, after RoboReward's rubric (arXiv 2601.00675) but decided by physics.

The label judges the instruction: lifting a twin fulfils "pick up the bowl". Whether it was the right bowl is
Stage C's business.

    1  no success            the robot touched no object of the category
    2  minimal progress      it touched one, but raised none
    3  partial completion    one was raised while something else still touched it, or some of several were lifted
    4  near completion       one was lifted (robot contact only, as the judge says) but not held to the end
    5  all requirements met  one was held for the judge's hold time at the end of an attempt

Each line is something that has happened by a certain time, so the label of a rollout's beginning never exceeds that
of the whole. The end of a video that was cut is no end of an attempt: what is up there has yet to stay up, so it is
a 4 at most until the attempt is over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbench_dag.manipulation.judge import attempt_ends, hold_steps, lifted_steps
from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace
from sbench_dag.study import JudgeSettings

_RAISED_M = 0.003  # more than an object rises when a finger slides under its edge


def label(trace: Trace, instances: Sequence[str], needed: int, settings: JudgeSettings) -> int:
    """The label of a rollout.

    instances: uids of all objects of the queried category. needed: how many of them the instruction asks for.
    """
    return int(label_over_time(trace, instances, needed, settings)[-1])


def label_over_time(trace: Trace, instances: Sequence[str], needed: int, settings: JudgeSettings) -> np.ndarray:
    """(T + 1,) the label after that many control steps; never falls."""
    if len(instances) < needed:
        return np.ones(len(trace.time_s) + 1, dtype=int)
    each = np.sort(label_of_each(trace, instances, settings), axis=1)
    best, last_needed = each[:, -1], each[:, -needed]
    return np.where(last_needed >= 4, last_needed, np.minimum(best, 3))


def label_of_each(trace: Trace, instances: Sequence[str], settings: JudgeSettings) -> np.ndarray:
    """(T + 1, len(instances)) of each object alone, after that many control steps."""
    columns = _columns(trace, instances)
    lifted = lifted_steps(trace, settings.lift_m)[:, columns]
    touched = (trace.touch[:, columns] & Touch.ROBOT).astype(bool) & (trace.attempt != RETRACTING)[:, None]
    raised = trace.z[:, columns] - trace.start_z[trace.selection][:, columns] >= _RAISED_M
    ended = np.zeros(len(trace.time_s), dtype=bool)
    ended[attempt_ends(trace)] = True
    now = np.ones((len(ended) + 1, len(columns)), dtype=int)
    for score, reached in (
        (2, touched),
        (3, touched & raised),
        (4, lifted),
        (5, held_steps(trace, instances, settings) & ended[:, None]),
    ):
        now[1:][reached] = score
    return np.maximum.accumulate(now, axis=0)


def held_steps(trace: Trace, instances: Sequence[str], settings: JudgeSettings) -> np.ndarray:
    """(T, len(instances)) bool: lifted at that step and at all others of the hold time before it."""
    lifted = lifted_steps(trace, settings.lift_m)[:, _columns(trace, instances)]
    hold = max(1, hold_steps(settings))
    count = np.concatenate([np.zeros((1, lifted.shape[1]), dtype=int), np.cumsum(lifted, axis=0)])
    held = np.zeros_like(lifted)
    if hold <= len(lifted):
        held[hold - 1 :] = count[hold:] - count[:-hold] == hold
    return held


def _columns(trace: Trace, instances: Sequence[str]) -> list[int]:
    return [int(np.flatnonzero(trace.names == uid)[0]) for uid in instances]
