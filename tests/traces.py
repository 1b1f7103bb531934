"""Traces made up by hand."""

from __future__ import annotations

import numpy as np

from sbench_dag.manipulation.trace import Touch, Trace

NAMES = ("bowl", "twin", "mug")


def trace_of(
    lifts: dict[str, list[float]],
    touch: dict[str, list[int]] | None = None,
    attempt: list[int] | None = None,
) -> Trace:
    """One selection of bowl, twin and mug, which have these heights above their start and these `Touch` flags.

    What is not named stays down and is touched by the robot.
    """
    steps = len(next(iter(lifts.values())))
    z = np.array([lifts.get(name, [0.0] * steps) for name in NAMES]).T
    flags = np.array([(touch or {}).get(name, [int(Touch.ROBOT)] * steps) for name in NAMES], dtype=np.uint8).T
    return Trace(
        names=np.array(NAMES),
        selected=np.array(["bowl"]),
        recorded_z=np.zeros(3),
        start_z=np.zeros((1, 3)),
        start_touch=np.zeros((1, 3), dtype=np.uint8),
        base=np.zeros((1, 4)),
        time_s=np.arange(steps) * 0.066,
        selection=np.zeros(steps, dtype=np.int8),
        attempt=np.array(attempt or [0] * steps, dtype=np.int8),
        z=z,
        touch=flags,
        arm_qpos=np.zeros((steps, 7)),
        gripper_m=np.zeros(steps),
        command=np.zeros((steps, 8)),
    )
