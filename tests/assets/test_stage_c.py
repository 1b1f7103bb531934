"""Stage C waits for G1 and G2, and an operator's override leaves a trace wherever somebody might look."""

from __future__ import annotations

import json

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.reports.grid import Results
from sbench_dag.stops import smoke_plans
from sbench_dag.study import load_study
from sbench_dag.work.item import Result
from tests.assets.support import Bench, everything_works, failure_of, metadata

TOO_FAR = Result(Outcome.FAILURE, Reason.TOO_FAR, row={"reached": False})
DROPPED = Result(Outcome.FAILURE, Reason.NOT_LIFTED)


@pytest.fixture
def ready(bench: Bench) -> Bench:
    """G0 and Stage B have run, two smoke plans are asked for."""
    settings = bench.study.folder / "study.toml"
    settings.write_text(settings.read_text() + "\n[stop]\nsmoke_plans = 2\n")
    bench.reload()
    bench.must("g0_spike")
    return bench


def oracle_fails(bench: Bench, stage: str, with_result: Result) -> None:
    oracle = {plan.key for plan in bench.study.manifest.plans if plan.is_oracle}

    def judge(gate: str, key: str) -> Result:
        return with_result if gate == stage and key in oracle else everything_works(gate, key)

    bench.cluster.judge = judge


def smoke(bench: Bench) -> set[str]:
    return {plan.key for plan in smoke_plans(Results(load_study(bench.study.folder)))}


def test_what_g1_has_to_know_is_run_first_and_without_a_word(bench: Bench):
    """A backfill asks for the first episode's picks while Stage B is still busy with the last one."""
    oracle = {plan.key for plan in bench.study.manifest.plans if plan.is_oracle}
    result = bench.run("stage_c")
    assert set(bench.cluster.keys("g0_spike")) == {"val_0001__0", "val_0002__0"}
    assert set(bench.cluster.keys("stage_b")) == oracle
    assert result.success
    assert sorted(bench.cluster.keys("stage_c")) == bench.partitions("stage_c")
    assert bench.instance.get_latest_materialization_event(bench.scope.key("stage_b")) is None


def test_while_g1_can_not_be_decided_nothing_is_executed(ready: Bench):
    ready.cluster.judge = lambda gate, key: None if gate == "stage_b" else everything_works(gate, key)
    result = ready.run("stage_c")
    assert ready.cluster.keys("stage_c") == []
    assert ready.status("stage_c") == (set(), set(ready.partitions("stage_c")))
    assert "G1 stops Stage C: 0 of 0 oracle plans reached, 6 not run yet" in failure_of(result)


def test_when_g1_fails_no_plan_is_executed(ready: Bench):
    oracle_fails(ready, "stage_b", TOO_FAR)
    ready.must("stage_b")
    result = ready.run("stage_c")
    assert ready.cluster.keys("stage_c") == []
    assert "G1 stops Stage C: 0 of 6 oracle plans reached (0.000, limit 0.98)" in failure_of(result)


def test_the_smoke_plans_run_first_and_then_the_rest(ready: Bench):
    ready.must("stage_b")
    ready.must("stage_c")
    calls = ready.cluster.keys("stage_c")
    assert set(calls[:2]) == smoke(ready)
    assert sorted(calls) == ready.partitions("stage_c")
    assert ready.status("stage_c") == (set(ready.partitions("stage_c")), set())


def test_when_g2_fails_only_the_smoke_plans_were_executed_and_they_keep_their_results(ready: Bench):
    ready.must("stage_b")
    oracle_fails(ready, "stage_c", DROPPED)
    result = ready.run("stage_c")
    assert set(ready.cluster.keys("stage_c")) == smoke(ready)
    assert ready.status("stage_c") == (smoke(ready), set(ready.partitions("stage_c")) - smoke(ready))
    assert "G2 stops Stage C: 0 of 2 oracle plans lifted" in failure_of(result)
    [check] = [c for c in result.get_asset_check_evaluations() if c.check_name == "g2_smoke_lifted"]
    assert not check.passed


def test_smoke_plans_that_nobody_asked_for_are_run_but_not_logged(ready: Bench):
    ready.must("stage_b")
    asked = [key for key in ready.partitions("stage_c") if key.startswith("val_0001__0.q02")]
    assert not smoke(ready) & set(asked)
    ready.must("stage_c", keys=asked)
    assert set(ready.cluster.keys("stage_c")) == smoke(ready) | set(asked)
    assert ready.status("stage_c") == (set(asked), set())


def test_what_has_a_result_stays_good_when_the_rest_is_stopped(ready: Bench):
    ready.must("stage_b")
    oracle_fails(ready, "stage_c", DROPPED)
    ready.run("stage_c")
    ready.run("stage_c")
    assert ready.status("stage_c")[0] == smoke(ready)
    assert len(ready.cluster.keys("stage_c")) == 2, "the smoke plans were not run twice"


def test_an_override_lets_the_run_go_on_and_is_recorded_in_four_places(ready: Bench):
    oracle_fails(ready, "stage_b", TOO_FAR)
    ready.must("stage_b")
    result = ready.run("stage_c", config={"override_g1": "base is being repaired", "override_g2": "a dry run"})
    assert result.success
    assert sorted(ready.cluster.keys("stage_c")) == ready.partitions("stage_c")
    run = ready.instance.get_run_by_id(result.run_id)
    assert run is not None
    assert run.tags["sbench/override_g1"] == "base is being repaired"
    assert run.tags["sbench/override_g2"] == "a dry run"
    shown = metadata(ready.events("stage_c")[ready.partitions("stage_c")[0]])
    assert shown["override G1"] == "base is being repaired (0 of 6 oracle plans reached (0.000, limit 0.98))"
    lines = (ready.study.folder / "overrides.jsonl").read_text().splitlines()
    assert [json.loads(line)["gate"] for line in lines] == ["G1", "G2"]
    ready.must("summary", keys=[])
    assert "base is being repaired" in (ready.study.reports / "index.html").read_text()


def test_an_override_that_was_not_needed_is_not_recorded(ready: Bench):
    ready.must("stage_b")
    ready.must("stage_c", config={"override_g1": "just in case"})
    assert not (ready.study.folder / "overrides.jsonl").exists()
