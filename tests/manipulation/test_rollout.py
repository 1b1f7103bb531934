"""A rollout is what the policy did and nothing else, and what is not physics is not a result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sbench_dag.manipulation.trace import RETRACTING, Touch, read_trace
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study, load_study
from sbench_dag.work.store import Line
from tests.blocks import blocks_study
from tests.running import run_here


def stage_c(home: Path, **policy: object) -> tuple[Study, Line]:
    study = blocks_study(home, 1, settings={"policy": policy})
    [line] = run_here(study, "g0_spike", "stage_b", "stage_c")["stage_c"]
    return load_study(study.folder), line


def test_the_scripted_policy_lifts_and_holds_by_friction(home: Path):
    study, line = stage_c(home, name="scripted")
    assert line.outcome is Outcome.SUCCESS
    assert line.row["success_held"]
    trace = read_trace(study.folder / line.row["trace"]["file"])
    held = trace.touch[:, 0] == Touch.ROBOT
    assert held.sum() * 0.066 >= 0.5
    assert trace.gripper_m[held].min() > 0.045, "the fingers stay as far apart as the block is wide"


def test_a_policy_that_does_nothing_has_no_grasp(home: Path):
    _, line = stage_c(home, name="tests.policies:Idle")
    assert (line.outcome, line.result.reason) == (Outcome.FAILURE, Reason.NO_GRASP)
    assert line.row["actions_applied"] == 0


def test_a_second_attempt_starts_from_home_and_the_way_there_is_nobodys_attempt(home: Path):
    study, line = stage_c(home, name="scripted", stop_lift_m=0.5)
    trace = read_trace(study.folder / line.row["trace"]["file"])
    assert set(trace.attempt.tolist()) == {0, RETRACTING, 1}
    assert line.outcome is Outcome.SUCCESS, "the harness's stop rule is no part of the verdict"
    starts = np.flatnonzero(np.diff(trace.attempt) != 0) + 1
    assert trace.z[starts[-1], 0] < 0.03, "what was lifted has been set down again"


def test_the_horizon_ends_an_attempt(home: Path):
    _, line = stage_c(home, name="scripted", horizon_steps=10, attempts=2)
    assert (line.outcome, line.row["actions_applied"]) == (Outcome.FAILURE, 20)


def test_a_simulation_that_diverged_is_invalid(home: Path):
    _, line = stage_c(home, name="tests.policies:Exploding")
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.PHYSICS_WARNING)
    assert "MuJoCo warned" in line.result.message


def test_a_policy_sees_the_cameras_it_asks_for(home: Path):
    _, line = stage_c(home, name="tests.policies:Watching")
    assert line.outcome is Outcome.SUCCESS, line.result.message


def test_a_camera_that_does_not_exist_is_an_error_and_no_other_is_taken_instead(home: Path):
    _, line = stage_c(home, name="tests.policies:Misnaming")
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.HARNESS_ERROR)
    assert "no camera 'zed3'; the scene has " in line.result.message


@pytest.mark.parametrize("name", ["scriptd", "tests.policies"])
def test_a_policy_that_does_not_exist_is_named(home: Path, name: str):
    _, line = stage_c(home, name=name)
    assert line.outcome is Outcome.INVALID
    assert f"policy.name = {name!r}" in line.result.message
