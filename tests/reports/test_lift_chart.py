"""The chart shows what the judge saw: heights, contacts, attempts."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from sbench_dag.manipulation.trace import RETRACTING, Touch
from sbench_dag.outcomes import Reason
from sbench_dag.reports.lift_chart import LEFT, RIGHT, WIDTH, LiftChart, lift_chart
from sbench_dag.reports.words import LABELS, REASONS
from tests.traces import trace_of


def points(d: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](\S+) (-?[\d.]+)", d)]


def chart_of(*arguments, right: tuple[str, ...] = ("bowl",), **more) -> LiftChart:
    found = lift_chart(trace_of(*arguments, **more), right, 0.01)
    assert found is not None
    return found


def test_what_rises_above_the_limit_crosses_its_line():
    chart = chart_of({"bowl": [0.0, 0.0, 0.005, 0.02, 0.05]})
    [curve] = chart.curves
    heights = [y for _, y in points(curve.d)]
    assert heights[0] > chart.limit_y > heights[-1]
    assert curve.is_right and curve.highest_cm == 5.0


def test_what_the_robot_went_for_instead_is_shown_too():
    chart = chart_of({"bowl": [0.0, 0.05], "twin": [0.0, 0.0]}, right=("twin",))
    assert [(curve.body, curve.is_right) for curve in chart.curves] == [("twin", True), ("bowl", False)]


def test_contacts_are_told_apart_and_lie_where_they_were():
    robot, both = int(Touch.ROBOT), int(Touch.ROBOT | Touch.STATIC)
    chart = chart_of({"bowl": [0.0] * 4}, {"bowl": [0, both, robot, robot]})
    contacts = chart.curves[0].contacts
    assert set(contacts) == {"both", "robot"}
    first, last = (float(x) for x in re.findall(r"M(\S+) \S+H(\S+)", contacts["robot"])[0])
    assert LEFT < first < last == WIDTH - RIGHT


def test_attempts_and_the_way_home_follow_each_other():
    chart = chart_of({"bowl": [0.0] * 6}, attempt=[0, 0, RETRACTING, RETRACTING, 1, 1])
    assert [span.name for span in chart.spans] == ["attempt 1", "", "attempt 2"]
    for before, after in zip(chart.spans, chart.spans[1:], strict=False):
        assert abs(before.x + before.width - after.x) < 1e-6


def test_places_keep_their_numbers_though_at_one_nothing_was_picked():
    trace = trace_of({"bowl": [0.0] * 4})
    trace = replace(
        trace,
        selected=np.array(["bowl", "mug"]),
        start_z=np.zeros((2, 3)),
        selection=np.array([0, 0, 1, 1], dtype=np.int8),
    )
    chart = lift_chart(trace, ["bowl"], 0.01, places=[1, 3])
    assert chart is not None
    assert [span.name for span in chart.spans] == ["place 1", "place 3"]
    assert chart.curves[0].d.count("M") == 2, "heights are above the start of each place"


def test_a_long_rollout_is_thinned_but_keeps_its_highest_point():
    heights = np.abs(np.sin(np.arange(5000))).tolist()
    heights[2345] = 2.0
    chart = chart_of({"bowl": heights})
    drawn = points(chart.curves[0].d)
    assert len(drawn) < 600
    assert chart.curves[0].highest_cm == 200.0
    level = chart_of({"bowl": [0.0] * 1000})
    assert len(points(level.curves[0].d)) == 2
    peak = min(y for _, y in drawn)
    assert peak == min(y for _, y in points(chart_of({"bowl": [0.0, 2.0]}).curves[0].d))


def test_a_rollout_without_a_step_has_no_chart():
    trace = trace_of({"bowl": [0.0]})
    empty = {name: getattr(trace, name)[:0] for name in ("time_s", "selection", "attempt", "z", "touch")}
    assert lift_chart(replace(trace, **empty), ["bowl"], 0.01) is None


def test_a_body_that_is_not_in_the_trace_is_left_out():
    assert [curve.body for curve in chart_of({"bowl": [0.0, 0.1]}, right=("gone", "bowl")).curves] == ["bowl"]


def test_every_reason_and_every_label_has_words():
    assert set(REASONS) == set(Reason)
    assert set(LABELS) == {1, 2, 3, 4, 5}
