"""The judge is a pure function of the trace, and both halves of its predicate matter."""

from __future__ import annotations

import pytest

from sbench_dag.dataset.eval_spec import Steps
from sbench_dag.manipulation.judge import judge
from sbench_dag.manipulation.trace import RETRACTING, Touch
from sbench_dag.study import JudgeSettings
from tests.traces import trace_of

SETTINGS = JudgeSettings(lift_m=0.01, hold_s=0.5)
HELD = 8  # control steps of 66 ms that make half a second


def verdict_of(*args, gt: tuple[str, ...] = ("bowl",), steps: Steps = Steps.SINGLE, **kwargs):
    return judge(trace_of(*args, **kwargs), gt, steps, SETTINGS)


def test_lifted_held_and_still_up_at_the_end():
    verdict = verdict_of({"bowl": [0.0, *[0.02] * HELD]})
    assert verdict.success and verdict.success_held and verdict.success_at_end
    assert verdict.bodies[0].longest_hold_s == pytest.approx(HELD * 0.066)


@pytest.mark.parametrize(("lift", "success"), [(0.0099, False), (0.01, True)])
def test_the_threshold_is_a_centimetre(lift: float, success: bool):
    assert verdict_of({"bowl": [lift] * HELD}).success is success


@pytest.mark.parametrize(
    "touch", [0, Touch.STATIC, Touch.OBJECT, Touch.ROBOT | Touch.STATIC, Touch.ROBOT | Touch.OBJECT]
)
def test_in_the_air_or_touched_by_anything_else_is_not_lifted(touch: int):
    assert not verdict_of({"bowl": [0.05] * HELD}, {"bowl": [int(touch)] * HELD}).success


def test_success_at_any_step_is_the_headline_and_the_stricter_ones_stand_beside_it():
    verdict = verdict_of({"bowl": [0.02] * 3 + [0.0] * 5})
    assert verdict.success
    assert not verdict.success_held
    assert not verdict.success_at_end
    assert verdict.bodies[0].longest_hold_s == pytest.approx(3 * 0.066)


def test_one_step_short_of_a_hold_is_no_hold():
    assert not verdict_of({"bowl": [0.02] * (HELD - 1)}).success_held
    assert not verdict_of({"bowl": [0.02] * 5 + [0.0] + [0.02] * 5}).success_held, "a break starts the hold anew"


def test_what_happens_while_the_arm_is_brought_home_does_not_count():
    verdict = verdict_of({"bowl": [0.0, 0.0, *[0.02] * HELD]}, attempt=[0, 0, *[RETRACTING] * HELD])
    assert not verdict.success
    assert verdict.actions_applied == 2


def test_the_end_of_either_attempt_counts_as_an_end():
    lifts = [0.0, 0.02, 0.0, 0.0]
    assert verdict_of({"bowl": lifts}, attempt=[0, 0, RETRACTING, 1]).success_at_end


def test_a_lifted_twin_is_no_success_and_is_named():
    verdict = verdict_of({"twin": [0.02] * HELD})
    assert not verdict.success
    assert verdict.others_lifted == ("twin",)


def test_any_of_several_right_ones_will_do_for_a_single_step_and_all_are_needed_for_several():
    lifts = {"twin": [0.02] * HELD}
    assert verdict_of(lifts, gt=("bowl", "twin")).success
    several = verdict_of(lifts, gt=("bowl", "twin"), steps=Steps.MULTI)
    assert not several.success
    assert several.share == 0.5


def test_an_object_that_was_up_before_the_first_action_proves_nothing():
    trace = trace_of({"bowl": [0.02] * HELD})
    trace.start_z[0, 0] = 0.015
    trace.start_touch[0, 0] = Touch.ROBOT
    assert judge(trace, ("bowl",), Steps.SINGLE, SETTINGS).true_at_reset
    trace.start_touch[0, 0] = Touch.STATIC
    assert not judge(trace, ("bowl",), Steps.SINGLE, SETTINGS).true_at_reset


def test_no_action_at_all_is_counted_as_none():
    trace = trace_of({"bowl": []})
    verdict = judge(trace, ("bowl",), Steps.SINGLE, SETTINGS)
    assert (verdict.success, verdict.actions_applied) == (False, 0)
