"""Limits that a sound study keeps: when they pass, fail, and can not be decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.limits import Finding, blind_reached, gate_pass_rate, lowest_match_ratio
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import GATES
from sbench_dag.reports.grid import Results
from sbench_dag.stops import State
from sbench_dag.study import StopSettings, Study, create_study
from sbench_dag.work.item import Result
from tests.by_hand import write_dataset
from tests.test_stops import BROKEN, NO, YES, by_hand_study, store

EPISODES = ("val_0001__0", "val_0002__0")
FAILED = Result(Outcome.INVALID, Reason.G0_FAILED, row={})


def ratio(value: float, outcome: Outcome = Outcome.SUCCESS) -> Result:
    return Result(outcome, row={"checks": [{"check": "match_ratio", "value": value}]})


def plans_of(study: Study, source: str) -> list[str]:
    return [plan.key for plan in study.manifest.plans if source in plan.sources]


@pytest.mark.parametrize("limit", [gate_pass_rate, lowest_match_ratio, blind_reached])
def test_before_anything_has_run_no_limit_passes(home: Path, limit):
    found = limit(Results(by_hand_study(home)))
    assert (found.state, found.value, found.n) == (State.UNDECIDED, None, 0)


def test_the_gate_pass_rate_is_of_the_tried_episodes(home: Path):
    study = by_hand_study(home)
    store(study, "g0_spike", {EPISODES[0]: YES})
    assert gate_pass_rate(Results(study)) == Finding(
        State.UNDECIDED, "G0 passed 1 of 1 episodes, 1 not run yet", 1.0, 0.95, 1
    )
    store(study, "g0_spike", {EPISODES[1]: FAILED})
    assert gate_pass_rate(Results(study)) == Finding(State.FAILED, "G0 passed 1 of 2 episodes", 0.5, 0.95, 2)


def test_the_gate_pass_rate_passes_when_all_do(home: Path):
    study = by_hand_study(home)
    store(study, "g0_spike", dict.fromkeys(EPISODES, YES))
    assert gate_pass_rate(Results(study)).state is State.PASSED


def test_the_lowest_match_ratio_names_its_episode(home: Path):
    study = by_hand_study(home)
    store(study, "g0_spike", {EPISODES[0]: ratio(1.0), EPISODES[1]: ratio(0.95)})
    found = lowest_match_ratio(Results(study))
    assert (found.state, found.value, found.limit, found.n) == (State.PASSED, 0.95, 0.9, 2)
    assert "of val_0002__0, the lowest of 2 episodes" in found.text


def test_a_match_ratio_below_the_limit_fails_although_others_have_not_run(home: Path):
    study = by_hand_study(home)
    store(study, "g0_spike", {EPISODES[0]: ratio(0.5, Outcome.INVALID)})
    found = lowest_match_ratio(Results(study))
    assert (found.state, found.value, found.n) == (State.FAILED, 0.5, 1)
    assert found.text.endswith("1 not checked")


def test_an_episode_that_broke_before_it_was_checked_leaves_the_match_ratio_undecided(home: Path):
    study = by_hand_study(home)
    store(study, "g0_spike", {EPISODES[0]: ratio(1.0), EPISODES[1]: BROKEN})
    assert lowest_match_ratio(Results(study)).state is State.UNDECIDED


def test_a_blind_source_that_reaches_nothing_keeps_the_floor(home: Path):
    study = by_hand_study(home)
    store(
        study,
        "stage_b",
        dict.fromkeys(plans_of(study, "blind"), NO) | dict.fromkeys(plans_of(study, "oracle-loc"), YES),
    )
    assert blind_reached(Results(study)) == Finding(
        State.PASSED, "blind reached 0 of 6 queries, the oracle 6", 0.0, 0.5, 6
    )


def test_a_blind_source_that_reaches_most_of_what_the_truth_does_fails(home: Path):
    study = by_hand_study(home)
    blind, oracle = plans_of(study, "blind"), plans_of(study, "oracle-loc")
    store(study, "stage_b", dict.fromkeys(oracle, YES) | dict.fromkeys(blind[:4], YES) | dict.fromkeys(blind[4:], NO))
    found = blind_reached(Results(study))
    assert (found.state, found.value, found.n) == (State.FAILED, pytest.approx(4 / 6), 6)


def test_the_floor_is_measured_against_what_the_truth_reaches(home: Path):
    study = by_hand_study(home)
    blind, oracle = plans_of(study, "blind"), plans_of(study, "oracle-loc")
    answers = dict.fromkeys(oracle[:3], YES) | dict.fromkeys(oracle[3:], NO)
    store(study, "stage_b", answers | dict.fromkeys(blind[:2], YES) | dict.fromkeys(blind[2:], NO))
    found = blind_reached(Results(study))
    assert (found.state, found.limit) == (State.FAILED, 0.25), "2 of 6 is more than half of 3 of 6"


def test_the_floor_is_undecided_while_a_blind_plan_has_not_run(home: Path):
    study = by_hand_study(home)
    blind, oracle = plans_of(study, "blind"), plans_of(study, "oracle-loc")
    store(study, "stage_b", dict.fromkeys(oracle, YES) | dict.fromkeys(blind[1:], NO))
    found = blind_reached(Results(study))
    assert (found.state, found.text) == (
        State.UNDECIDED,
        "blind reached 0 of 5 queries, the oracle 5, 1 not run yet",
    )


def test_the_floor_does_not_wait_for_stage_c(home: Path):
    study = by_hand_study(home)
    everything = [plan.key for plan in study.manifest.plans]
    store(study, "stage_b", dict.fromkeys(everything, YES))
    assert blind_reached(Results(study)).state is State.FAILED


def test_nothing_reached_by_the_truth_gives_no_floor(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys((plan.key for plan in study.manifest.plans), NO))
    found = blind_reached(Results(study))
    assert (found.state, found.text.endswith("nothing to compare with")) == (State.UNDECIDED, True)


def test_a_study_without_blind_answers_says_that_its_floor_is_not_known(home: Path):
    dataset = write_dataset(home / "d")
    (home / "d" / "answers" / "s3_common-sense" / "results.json").unlink()
    found = blind_reached(Results(create_study("s", dataset.root)))
    assert (found.state, "no blind answers" in found.text) == (State.UNDECIDED, True)


def test_no_gate_reads_the_limits(home: Path):
    """A changed limit must not make a result stale."""
    study = by_hand_study(home)
    for gate in GATES:
        settings = gate.settings(study)
        parts = settings if isinstance(settings, tuple) else (settings,)
        assert not any(isinstance(part, StopSettings) for part in parts), gate.name
