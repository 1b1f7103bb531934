"""Traces made up by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace

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


def random_trace(rng: np.random.Generator, steps: int) -> Trace:
    """Heights, touches and attempts that change every few steps, without regard to physics."""

    def walk(values: Sequence[float]) -> list:
        return list(np.repeat(rng.choice(values, size=steps // 4 + 1), 4)[:steps])

    attempts = np.repeat([0, RETRACTING, 1], steps // 3 + 1)[:steps]
    return trace_of(
        {name: walk([0.0, 0.004, 0.02, 0.02]) for name in NAMES},
        {name: [int(flag) for flag in walk([0, Touch.ROBOT, Touch.ROBOT, Touch.STATIC, 3])] for name in NAMES},
        [int(attempt) for attempt in attempts],
    )
