"""G1 and G2: what they look at, when they stop Stage C, and that an override is kept."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.reports.grid import Results
from sbench_dag.stops import (
    Decision,
    State,
    StoppedError,
    oracle_reached,
    record_override,
    smoke_lifted,
    smoke_plans,
    stage_c_batches,
)
from sbench_dag.study import Study, create_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.by_hand import write_dataset

YES, NO = Result(Outcome.SUCCESS), Result(Outcome.FAILURE, Reason.TOO_FAR)
BROKEN, LATER = Result(Outcome.INVALID, Reason.TIMED_OUT), Result(Outcome.NOT_RUN, Reason.UPSTREAM_MISSING)


def by_hand_study(home: Path, smoke: int = 2) -> Study:
    """Six oracle plans, four of them picks, among 20 plans with 14 picks."""
    write_dataset(home / "by-hand")
    return create_study("by-hand", home / "by-hand", {"stop": {"smoke_plans": smoke}})


def store(study: Study, gate: str, results: dict[str, Result]) -> None:
    segment = Store(study.results).segment(gate)
    fingerprints = Fingerprints(study)
    for key, result in results.items():
        segment.append(key, fingerprints.of(gate, key), result)
    segment.close()


def oracle(study: Study) -> list[str]:
    return [plan.key for plan in study.manifest.plans if plan.is_oracle]


def picks(study: Study) -> list[str]:
    return sorted(Fingerprints(study).wanted(find_gate("stage_c")))


def never(decision: Decision) -> bool:
    return False


def test_g1_passes_when_the_robot_reaches_what_the_truth_names(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys(oracle(study), YES))
    assert oracle_reached(Results(study)).text == "6 of 6 oracle plans reached (1.000, limit 0.98)"
    assert oracle_reached(Results(study)).passed


def test_g1_fails_when_one_of_six_does_not_reach(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", {**dict.fromkeys(oracle(study), YES), oracle(study)[0]: NO})
    decision = oracle_reached(Results(study))
    assert (decision.state, decision.text) == (State.FAILED, "5 of 6 oracle plans reached (0.833, limit 0.98)")


def test_g1_looks_at_the_completed_and_states_the_invalid(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", {**dict.fromkeys(oracle(study), YES), oracle(study)[0]: BROKEN})
    decision = oracle_reached(Results(study))
    assert (decision.state, decision.text) == (
        State.PASSED,
        "5 of 5 oracle plans reached (1.000, limit 0.98), 1 invalid",
    )


def test_g1_fails_when_every_oracle_plan_is_invalid(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys(oracle(study), BROKEN))
    assert oracle_reached(Results(study)).state is State.FAILED


@pytest.mark.parametrize("last", [{}, {0: LATER}])
def test_g1_is_undecided_and_stops_as_long_as_an_oracle_plan_has_not_run(home: Path, last: dict[int, Result]):
    study = by_hand_study(home)
    results = dict.fromkeys(oracle(study)[1:], YES)
    store(study, "stage_b", results | {oracle(study)[i]: result for i, result in last.items()})
    assert oracle_reached(Results(study)).state is State.UNDECIDED
    batches = stage_c_batches(study, picks(study), never)
    assert next(batches) == ("g0_spike", ["val_0001__0"])
    assert next(batches) == ("stage_b", oracle(study)[:1]), "what is needed to decide it comes first"
    with pytest.raises(StoppedError, match=r"G1 stops Stage C: 5 of 5 .* 1 not run yet"):
        next(batches)


def test_the_smoke_plans_are_reached_oracle_picks_spread_over_categories_and_episodes(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys(oracle(study), YES))
    chosen = smoke_plans(Results(study))
    assert Counter(plan.category for plan in chosen) == {"mug": 1, "potato": 1}
    assert len({plan.episode for plan in chosen}) == 2
    assert all(plan.is_oracle and plan.scoring == "lifted" for plan in chosen)
    assert chosen == smoke_plans(Results(study))


def test_a_handful_needs_no_smoke_test(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys(oracle(study), YES))
    todo = picks(study)[:2]
    assert list(stage_c_batches(study, todo, never)) == [("stage_c", todo)]


def test_many_small_requests_do_not_get_around_g2(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*oracle(study), *picks(study)], YES))
    store(study, "stage_c", dict.fromkeys(picks(study)[:2], NO))
    gate, first = next(stage_c_batches(study, picks(study)[2:3], never))
    assert gate == "stage_c"
    assert set(first) <= {plan.key for plan in smoke_plans(Results(study))}


def test_plans_that_are_not_executed_do_not_count_for_g2(home: Path):
    study = by_hand_study(home, smoke=4)
    others = set(picks(study)) - set(oracle(study))
    store(study, "stage_b", dict.fromkeys(oracle(study), YES) | dict.fromkeys(others, NO))
    assert list(stage_c_batches(study, picks(study), never)) == [("stage_c", picks(study))]


def test_the_smoke_plans_come_first_and_the_rest_follows_when_they_are_lifted(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*oracle(study), *picks(study)], YES))
    batches = stage_c_batches(study, picks(study), never)
    _, smoke = next(batches)
    assert smoke == [plan.key for plan in smoke_plans(Results(study))]
    store(study, "stage_c", dict.fromkeys(smoke, YES))
    assert next(batches) == ("stage_c", [key for key in picks(study) if key not in smoke])
    assert next(batches, None) is None


def test_the_smoke_plans_come_first_even_where_nobody_asked_for_them(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*oracle(study), *picks(study)], YES))
    smoke = [plan.key for plan in smoke_plans(Results(study))]
    todo = [key for key in picks(study) if key not in smoke]
    assert next(stage_c_batches(study, todo, never)) == ("stage_c", smoke)


def test_g2_stops_the_rest_when_the_smoke_plans_are_not_lifted(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*oracle(study), *picks(study)], YES))
    batches = stage_c_batches(study, picks(study), never)
    store(study, "stage_c", dict.fromkeys(next(batches)[1], NO))
    with pytest.raises(StoppedError, match=r"G2 stops Stage C: 0 of 2 oracle plans lifted \(0.000, limit 0.8\)"):
        next(batches)
    assert smoke_lifted(Results(study)).state is State.FAILED


def test_g2_fails_when_no_oracle_plan_reached_at_all(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*oracle(study), *picks(study)], NO))
    assert smoke_lifted(Results(study)).state is State.FAILED


def test_an_operator_is_asked_about_each_gate_that_does_not_pass(home: Path):
    study = by_hand_study(home)
    store(study, "stage_b", dict.fromkeys([*picks(study), *oracle(study)], YES) | dict.fromkeys(oracle(study)[:2], NO))
    asked: list[str] = []
    batches = stage_c_batches(study, picks(study), lambda decision: not asked.append(decision.gate))
    store(study, "stage_c", dict.fromkeys(next(batches)[1], NO))
    assert len(list(batches)) == 1
    assert asked == ["G1", "G2"]


def test_nothing_to_do_asks_nothing(home: Path):
    assert list(stage_c_batches(by_hand_study(home), [], never)) == []


def test_an_override_is_kept_with_its_reason_and_time(home: Path):
    study = by_hand_study(home)
    record_override(
        study, Decision("G1", State.FAILED, "5 of 6 reached", (), 5 / 6, 0.98, 6), "the lift is being repaired"
    )
    record_override(study, Decision("G2", State.FAILED, "1 of 2 lifted", (), 0.5, 0.8, 2), "same")
    lines = [json.loads(line) for line in (study.folder / "overrides.jsonl").read_text().splitlines()]
    assert [line["gate"] for line in lines] == ["G1", "G2"]
    assert lines[0]["why"] == "the lift is being repaired (5 of 6 reached)"
    assert lines[0]["time"].endswith("+00:00")
