"""The label climbs with what the robot got done, and asks only what the instruction asks."""

from __future__ import annotations

import pytest

from sbench_dag.manipulation.trace import Touch
from sbench_dag.rewards.rubric import label, label_over_time
from sbench_dag.study import JudgeSettings
from tests.traces import trace_of

STEPS = 10
NEVER = [int(Touch.STATIC)] * STEPS
LEANING = [int(Touch.STATIC | Touch.ROBOT)] * STEPS
ALONE = [int(Touch.ROBOT)] * STEPS
BOWLS = ("bowl", "twin")


def label_of(lift: list[float], touch: list[int], needed: int = 1, twin: tuple | None = None) -> int:
    twin_lift, twin_touch = twin or ([0.0] * STEPS, NEVER)
    trace = trace_of({"bowl": lift, "twin": twin_lift}, {"bowl": touch, "twin": twin_touch})
    return label(trace, BOWLS, needed, JudgeSettings())


@pytest.mark.parametrize(
    ("lift", "touch", "expected"),
    [
        ([0.0] * STEPS, NEVER, 1),
        ([0.0] * STEPS, LEANING, 2),
        ([0.02] * STEPS, LEANING, 3),
        ([0.02] * 3 + [0.0] * 7, ALONE, 4),
        ([0.0] * 2 + [0.02] * 8, ALONE, 5),
    ],
)
def test_one_label_for_each_line_of_the_rubric(lift: list[float], touch: list[int], expected: int):
    assert label_of(lift, touch) == expected


def test_lifting_a_twin_fulfils_the_instruction():
    assert label_of([0.0] * STEPS, NEVER, twin=([0.02] * STEPS, ALONE)) == 5


def test_one_of_two_is_partial_completion():
    up = [0.02] * STEPS
    assert label_of(up, ALONE, needed=2) == 3
    assert label_of(up, ALONE, needed=2, twin=(up, ALONE)) == 5


def test_a_beginning_is_labelled_by_what_has_happened_by_then():
    touch = [int(Touch.STATIC)] * 2 + LEANING[:4] + ALONE
    lift = [0.0] * 4 + [0.005] * 2 + [0.02] * STEPS
    trace = trace_of({"bowl": lift}, {"bowl": touch})
    assert label_over_time(trace, ("bowl",), 1, JudgeSettings()).tolist() == [1] * 3 + [2] * 2 + [3] * 2 + [4] * 9 + [5]


def test_what_is_still_up_when_a_video_is_cut_has_yet_to_stay_up():
    trace = trace_of({"bowl": [0.02] * 20}, {"bowl": ALONE * 2})
    assert label_over_time(trace, ("bowl",), 1, JudgeSettings())[15] == 4
