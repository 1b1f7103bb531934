"""The judge: a pure function of a stored trace and the judge's settings.

An object counts as lifted at a step if it is at least `lift_m` above its start and touched by the robot only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.dataset.eval_spec import Steps
from sbench_dag.manipulation.policy import CONTROL_STEP_S
from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace
from sbench_dag.study import JudgeSettings


@dataclass(frozen=True)
class BodyVerdict:
    """How one object fared.

    lifted: at any step. held: for hold_s without a break. at_end: at an attempt's last step.
    """

    body: str
    lifted: bool
    held: bool
    at_end: bool
    longest_hold_s: float
    highest_lift_m: float


@dataclass(frozen=True)
class Verdict:
    """A rollout's verdict. success is the headline: the source's rule, true at any control step.

    share: of the ground-truth bodies lifted. others_lifted: uids that should have stayed where they were.
    true_at_reset: the predicate held before the first action, so that the rollout proves nothing.
    """

    success: bool
    success_held: bool
    success_at_end: bool
    share: float
    bodies: tuple[BodyVerdict, ...]
    others_lifted: tuple[str, ...]
    true_at_reset: bool
    actions_applied: int


def judge(trace: Trace, gt_bodies: Sequence[str], steps: Steps, settings: JudgeSettings) -> Verdict:
    """Single: any ground-truth body counts; several steps: all of them have to be lifted."""
    lifted = lifted_steps(trace, settings.lift_m)
    bodies = tuple(_judge_body(trace, lifted, body, settings) for body in gt_bodies)
    combine = all if steps is Steps.MULTI else any
    others = [
        str(name)
        for i, name in enumerate(trace.names)
        if name not in gt_bodies and _longest(lifted[:, i]) >= hold_steps(settings)
    ]
    return Verdict(
        success=combine(b.lifted for b in bodies),
        success_held=combine(b.held for b in bodies),
        success_at_end=combine(b.at_end for b in bodies),
        share=sum(b.lifted for b in bodies) / len(bodies),
        bodies=bodies,
        others_lifted=tuple(others),
        true_at_reset=_true_at_reset(trace, gt_bodies, settings.lift_m),
        actions_applied=int((trace.attempt != RETRACTING).sum()),
    )


def lifted_steps(trace: Trace, lift_m: float) -> np.ndarray:
    """(T, N) bool: lifted at that step, while an attempt was running."""
    rise = trace.z - trace.start_z[trace.selection]
    attempting = trace.attempt != RETRACTING
    return (rise >= lift_m) & (trace.touch == Touch.ROBOT) & attempting[:, None]


def is_lifted(height_m: float, start_m: float, touch: int, lift_m: float) -> bool:
    """The predicate for one object at one moment."""
    return height_m - start_m >= lift_m and touch == Touch.ROBOT


def _judge_body(trace: Trace, lifted: np.ndarray, body: str, settings: JudgeSettings) -> BodyVerdict:
    column = int(np.flatnonzero(trace.names == body)[0])
    mine = lifted[:, column]
    longest = _longest(mine)
    rise = trace.z[:, column] - trace.start_z[trace.selection, column]
    attempting = trace.attempt != RETRACTING
    return BodyVerdict(
        body=body,
        lifted=bool(mine.any()),
        held=longest >= hold_steps(settings),
        at_end=bool(mine[attempt_ends(trace)].any()),
        longest_hold_s=round(longest * CONTROL_STEP_S, 6),
        highest_lift_m=round(float(rise[attempting].max(initial=0.0)), 6),
    )


def hold_steps(settings: JudgeSettings) -> int:
    """Control steps in a row that make a hold."""
    return int(np.ceil(settings.hold_s / CONTROL_STEP_S - 1e-9))


def _longest(flags: np.ndarray) -> int:
    """Length of the longest run of True."""
    edges = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return int((ends - starts).max(initial=0))


def attempt_ends(trace: Trace) -> np.ndarray:
    """Indices of the last step of every attempt."""
    label = trace.selection.astype(int) * 1000 + trace.attempt
    last = np.append(label[1:] != label[:-1], True) if len(label) else np.zeros(0, dtype=bool)
    return np.flatnonzero(last & (trace.attempt != RETRACTING))


def _true_at_reset(trace: Trace, gt_bodies: Sequence[str], lift_m: float) -> bool:
    """Measured from the recorded end state: from the reset itself every lift would be nought."""
    columns = np.isin(trace.names, list(gt_bodies))
    rise = trace.start_z[0] - trace.recorded_z
    return bool(((rise >= lift_m) & (trace.start_touch[0] == Touch.ROBOT) & columns).any())
