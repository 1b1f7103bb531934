"""The stale sensor asks for exactly what is stale, upstream first, in few runs, and never loses an update."""

from __future__ import annotations

import shutil
from dataclasses import replace

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill

from assets.catch_up import TRIES, NextRuns, next_runs
from assets.memory import Memory
from assets.operations import StaleSettings
from assets.run import STEPS
from assets.stale_plans import stale_plans
from sbench_dag import pipeline
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import GATES, find_gate
from sbench_dag.stale import Scan, Scanner
from sbench_dag.stops import smoke_lifted, stopped_by
from sbench_dag.study import load_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.assets.support import Bench, failing, failure_of


class Daemon:
    """Ticks as Dagster's daemon does: asks, and runs what was asked for."""

    def __init__(self, bench: Bench):
        self.bench = bench
        self.scanner = Scanner(bench.study.folder)
        self.memory = Memory(bench.instance)

    def ask(self) -> NextRuns:
        self.memory.instance = self.bench.instance
        return next_runs(self.memory, self.bench.scope, self.scanner.scan)

    def launch(self, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
        assert request.asset_selection is not None
        return self.bench.job.execute_in_process(
            instance=self.bench.instance,
            asset_selection=list(request.asset_selection),
            tags=dict(request.tags),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )

    def catch_up(self, limit: int = 30) -> list[str]:
        """Ticks until there is nothing to do; the steps that ran."""
        steps = []
        for _ in range(limit):
            plan = self.ask()
            if not plan.requests:
                return steps
            for request in plan.requests:
                steps.append(step_of(request))
                self.launch(request)
        raise AssertionError(f"it never ends: {steps}")


@pytest.fixture
def daemon(bench: Bench) -> Daemon:
    bench.cluster.judge = the_oracle_lifts
    return Daemon(bench)


def the_oracle_lifts(gate: str, key: str) -> Result:
    return Result(Outcome.SUCCESS, row={"reached": True} if gate == "stage_b" else {})


def step_of(request: dg.RunRequest) -> str:
    assert request.asset_selection
    return request.asset_selection[0].path[1]


def touch(bench: Bench, episode: str) -> None:
    file = bench.study.dataset.episode(episode).files.final_state
    file.write_bytes(file.read_bytes() + b" ")


def raise_version(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    new = replace(find_gate(name), code_version=find_gate(name).code_version + "+1")
    gates = tuple(new if gate.name == name else gate for gate in GATES)
    monkeypatch.setattr("sbench_dag.pipeline.GATES", gates)
    monkeypatch.setattr("sbench_dag.stale.GATES", gates)
    monkeypatch.setitem(pipeline._BY_NAME, name, new)


def of_episode(keys: list[str], episode: str) -> list[str]:
    return [key for key in keys if key.startswith(episode)]


def test_from_nothing_each_step_is_one_run_in_the_order_of_the_pipeline(daemon: Daemon):
    assert daemon.catch_up() == list(STEPS)
    assert daemon.ask().notes == []
    for name in STEPS[:-1]:
        assert daemon.bench.status(name) == (set(daemon.bench.partitions(name)), set())
        assert daemon.bench.stale(name) == set(), "Dagster agrees"


def test_an_episode_that_changes_is_all_that_is_recomputed(daemon: Daemon):
    daemon.catch_up()
    daemon.bench.cluster.calls.clear()
    touch(daemon.bench, "val_0002__0")
    assert daemon.catch_up() == list(STEPS)
    for gate in ("stage_b", "stage_c"):
        ran = daemon.bench.cluster.keys(gate)
        assert sorted(ran) == of_episode(daemon.bench.partitions(gate), "val_0002__0"), "each once"


def test_scattered_partitions_are_one_run(daemon: Daemon):
    daemon.catch_up()
    plans = daemon.bench.partitions("stage_b")
    for segment in (daemon.bench.study.results / "stage_b").glob("*.jsonl"):
        lines = segment.read_text().splitlines(keepends=True)
        segment.write_text("".join(line for line in lines if plans[1] not in line and plans[15] not in line))
    daemon.bench.cluster.calls.clear()
    [request] = daemon.ask().requests
    assert (request.tags["dagster/asset_partition_range_start"], request.tags["dagster/asset_partition_range_end"]) == (
        plans[1], plans[15]
    )  # fmt: skip
    daemon.catch_up()
    assert daemon.bench.cluster.keys("stage_b") == [plans[1], plans[15]]


def test_code_that_is_bumped_right_after_a_request_is_not_lost(daemon: Daemon, monkeypatch: pytest.MonkeyPatch):
    """research: an edge-triggered condition asks for the rest and never again for what was requested."""
    daemon.catch_up()
    touch(daemon.bench, "val_0001__0")
    [request] = daemon.ask().requests
    assert step_of(request) == "g0_spike"
    daemon.launch(request)  # with the code as it was
    raise_version(monkeypatch, "g0_spike")
    daemon.bench.reload()
    daemon.bench.cluster.calls.clear()
    assert daemon.catch_up() == list(STEPS)
    assert daemon.bench.cluster.keys("g0_spike") == ["val_0001__0", "val_0002__0"]


def test_code_that_is_bumped_while_the_run_is_queued_is_not_lost(daemon: Daemon, monkeypatch: pytest.MonkeyPatch):
    daemon.catch_up()
    touch(daemon.bench, "val_0001__0")
    [request] = daemon.ask().requests
    raise_version(monkeypatch, "g0_spike")
    daemon.bench.reload()
    daemon.launch(request)
    assert daemon.catch_up()[0] == "g0_spike"
    assert not daemon.ask().requests
    assert daemon.bench.stale("g0_spike") == set()


def test_an_input_that_changes_between_the_run_and_the_tick_is_not_lost(daemon: Daemon):
    daemon.catch_up()
    touch(daemon.bench, "val_0001__0")
    [request] = daemon.ask().requests
    daemon.launch(request)
    touch(daemon.bench, "val_0001__0")
    [again] = daemon.ask().requests
    assert step_of(again) == "g0_spike"
    daemon.bench.cluster.calls.clear()
    daemon.catch_up()
    assert daemon.bench.cluster.keys("g0_spike") == ["val_0001__0"]


def test_an_input_that_changes_and_changes_back_is_not_computed_again(daemon: Daemon):
    daemon.catch_up()
    file = daemon.bench.study.dataset.episode("val_0001__0").files.final_state
    before = file.read_bytes()
    touch(daemon.bench, "val_0001__0")
    daemon.catch_up()
    daemon.bench.cluster.calls.clear()
    for _ in range(TRIES):
        file.write_bytes(before)
        assert daemon.catch_up() == list(STEPS), "Dagster is told which result holds"
        file.write_bytes(before + b" ")
        assert daemon.catch_up() == list(STEPS)
    assert daemon.bench.cluster.calls == []


def test_what_is_invalid_is_not_tried_again_until_something_changes(daemon: Daemon):
    plans = daemon.bench.partitions("stage_b")
    daemon.bench.cluster.judge = failing(plans[0], gate="stage_b")
    daemon.catch_up()
    assert daemon.bench.status("stage_b")[1] == {plans[0]}
    assert not daemon.ask().requests
    daemon.bench.cluster.judge = the_oracle_lifts
    assert not daemon.ask().requests, "it can't know that the cause is gone"
    touch(daemon.bench, "val_0001__0")
    daemon.catch_up()
    assert daemon.bench.status("stage_b") == (set(plans), set())


def test_a_lost_run_is_repeated_a_few_times_and_then_left_alone(daemon: Daemon):
    daemon.bench.cluster.judge = lambda gate, key: None if gate == "g0_spike" else the_oracle_lifts(gate, key)
    for _ in range(TRIES):
        [request] = daemon.ask().requests
        daemon.launch(request)
    plan = daemon.ask()
    assert [step_of(request) for request in plan.requests] == ["report"], "later gates can't begin, the pages can"
    assert f"{TRIES} runs could not do it" in plan.notes[0]
    daemon.bench.cluster.judge = the_oracle_lifts
    touch(daemon.bench, "val_0001__0")
    assert step_of(daemon.ask().requests[0]) == "g0_spike", "now it is other work"


def test_a_run_that_somebody_cancelled_is_not_asked_for_again(daemon: Daemon):
    [request] = daemon.ask().requests
    run = unfinished(daemon, request)
    daemon.bench.instance.report_run_canceled(run)
    plan = daemon.ask()
    assert "g0_spike" not in [step_of(request) for request in plan.requests]
    assert "somebody cancelled" in plan.notes[0]


def test_what_is_left_of_a_run_that_somebody_cancelled_half_way_is_not_asked_for_again(daemon: Daemon):
    daemon.launch(daemon.ask().requests[0])
    plans = daemon.bench.partitions("stage_b")
    [request] = daemon.ask().requests
    run = unfinished(daemon, request)
    daemon.bench.run("stage_b", keys=plans[:3])  # what it did before
    daemon.bench.instance.report_run_canceled(run)
    plan = daemon.ask()
    assert "stage_b" not in [step_of(request) for request in plan.requests]
    assert any("stage_b is left alone (17 partitions): somebody cancelled" in note for note in plan.notes)
    touch(daemon.bench, "val_0002__0")
    assert step_of(daemon.ask().requests[0]) == "g0_spike", "that is another thing"


def test_a_page_may_be_deleted_as_often_as_one_likes(daemon: Daemon):
    daemon.catch_up()
    for _ in range(TRIES + 2):
        (daemon.bench.study.reports / "episodes" / "val_0001__0.html").unlink()
        assert daemon.catch_up() == ["report"]


def test_a_request_that_changes_nothing_is_not_repeated_for_ever(daemon: Daemon, monkeypatch: pytest.MonkeyPatch):
    """Nobody knows how that could be; if it is, it must not be a run every half minute."""
    monkeypatch.setattr("assets.report.write_episode", lambda results, episode: None)
    daemon.launch(daemon.ask().requests[0])
    daemon.launch(daemon.ask().requests[0])
    daemon.launch(daemon.ask().requests[0])
    steps = daemon.catch_up()
    assert steps.count("report") == 10
    assert "10 requests of the same changed nothing" in daemon.ask().notes[0]


def test_an_episode_that_is_gone_is_a_gap_and_costs_no_other(daemon: Daemon):
    """The code location has not been reloaded yet: a run over a range would cover it."""
    daemon.catch_up()
    study = daemon.bench.study
    shutil.rmtree(study.dataset.root / "episodes" / "val_0001__0")
    load_study(study.folder).refresh_manifest()
    touch(daemon.bench, "val_0002__0")
    assert daemon.catch_up() == list(STEPS)
    assert daemon.bench.status("report") == ({"val_0001__0", "val_0002__0"}, set())
    result = daemon.bench.run("report")
    assert "the manifest has changed and no longer names it" in failure_of(result)
    assert daemon.bench.status("report") == ({"val_0002__0"}, {"val_0001__0"})


def test_partitions_that_are_new_wait_for_a_reload_and_are_not_forgotten(daemon: Daemon):
    study = daemon.bench.study
    file = study.dataset.runs[0]
    text = file.read_text()
    file.unlink()
    study.refresh_manifest()
    daemon.bench.reload()
    daemon.catch_up()
    file.write_text(text)
    load_study(study.folder).refresh_manifest()
    daemon.catch_up()
    [note] = daemon.ask().notes
    assert "partitions are new; they wait for a reload" in note
    daemon.bench.reload()
    assert "stage_b" in daemon.catch_up()


def test_what_dagster_has_only_to_be_told_waits_for_no_stopping_gate(daemon: Daemon):
    """Results of Stage C that an override allowed, seen by a new instance."""
    daemon.catch_up()
    too_far = Result(Outcome.FAILURE, Reason.TOO_FAR, "far")
    scan = daemon.scanner.scan()
    segment = Store(daemon.bench.study.results).segment("stage_b")
    for file in (daemon.bench.study.results / "stage_b").glob("*.jsonl"):
        file.unlink()
    for key, item in scan.steps["stage_b"].items():
        segment.append(key, item.version, too_far)
    assert daemon.ask().requests == [] or step_of(daemon.ask().requests[0]) != "stage_c"
    with dg.DagsterInstance.ephemeral() as fresh:
        daemon.bench.instance = fresh
        assert "stage_c" in daemon.catch_up()
        assert daemon.bench.status("stage_c")[0] == set(daemon.bench.partitions("stage_c"))


def test_g2_stops_the_sensor_only_where_it_stops_a_run(daemon: Daemon):
    """A study with no more picks than the smoke test has."""
    daemon.bench.cluster.judge = failing(
        *daemon.bench.partitions("stage_c"), gate="stage_c", why=Result(Outcome.FAILURE, Reason.NOT_LIFTED, "slipped")
    )
    file = daemon.bench.study.folder / "study.toml"
    file.write_text(file.read_text() + "[stop]\nsmoke_plans = 50\n")
    daemon.bench.reload()
    daemon.catch_up()
    scan = daemon.scanner.scan()
    assert smoke_lifted(scan).state == "failed"
    assert stopped_by(scan, daemon.bench.partitions("stage_c")) is None
    file.write_text(file.read_text().replace("smoke_plans = 50", "smoke_plans = 3"))
    decision = stopped_by(daemon.scanner.scan(), daemon.bench.partitions("stage_c"))
    assert decision and decision.gate == "G2"


def unfinished(daemon: Daemon, request: dg.RunRequest) -> dg.DagsterRun:
    """A run as the daemon has created it and nobody has begun it yet."""
    assert request.asset_selection is not None
    run = daemon.bench.instance.create_run_for_job(
        daemon.bench.job.get_subset(asset_selection=set(request.asset_selection)),
        tags=dict(request.tags),
        asset_selection=frozenset(request.asset_selection),
    )
    return daemon.bench.instance.get_run_by_id(run.run_id) or run


def test_what_a_run_is_at_is_not_asked_for_again(daemon: Daemon):
    [request] = daemon.ask().requests
    run = unfinished(daemon, request)
    assert daemon.ask() == NextRuns([], [f"by-hand: g0_spike is running (run {run.run_id})"])


def test_what_ends_while_the_sensor_looks_is_not_asked_for_again(daemon: Daemon):
    """It would seem to be undone in the one half and not under way in the other."""
    [request] = daemon.ask().requests
    run = unfinished(daemon, request)
    scan = daemon.scanner.scan()

    def meanwhile() -> Scan:
        daemon.bench.must("g0_spike")
        daemon.bench.instance.report_run_canceled(run)
        return scan

    assert not next_runs(daemon.memory, daemon.bench.scope, meanwhile).requests


def test_while_a_backfill_is_open_nothing_is_asked_for(daemon: Daemon):
    key = daemon.bench.scope.key("g0_spike")
    backfill = PartitionBackfill(
        backfill_id="abc", status=BulkActionStatus.REQUESTED, from_failure=False, tags={}, backfill_timestamp=0.0,
        asset_selection=[key],
    )  # fmt: skip
    daemon.bench.instance.add_backfill(backfill)
    assert daemon.ask() == NextRuns([], ["by-hand: waits for backfill abc"])
    daemon.bench.instance.update_backfill(backfill.with_status(BulkActionStatus.COMPLETED_SUCCESS))
    assert daemon.ask().requests


def test_stage_c_waits_for_g1_and_the_report_does_not_wait_for_it(daemon: Daemon):
    too_far = Result(Outcome.FAILURE, Reason.TOO_FAR, "far")
    daemon.bench.cluster.judge = lambda gate, key: too_far if gate == "stage_b" else the_oracle_lifts(gate, key)
    assert daemon.catch_up() == ["g0_spike", "stage_b", "report", "summary"]
    [note] = daemon.ask().notes
    assert note.startswith("by-hand: stage_c waits (14 partitions): G1: 0 of 6 oracle plans reached")


def test_a_partition_that_left_the_manifest_is_asked_for_by_nobody(daemon: Daemon):
    """The code location has not been reloaded yet, and knows it still."""
    daemon.catch_up()
    daemon.bench.study.dataset.runs[0].unlink()
    daemon.bench.study.refresh_manifest()
    assert set(daemon.catch_up()) <= {"report", "summary"}
    daemon.bench.reload()
    daemon.catch_up()
    assert all(daemon.bench.stale(name) == set() for name in STEPS[:-1])


def test_the_sensor_is_off_unless_the_settings_say_otherwise(bench: Bench):
    assert stale_plans([bench.scope], StaleSettings()).default_status is dg.DefaultSensorStatus.STOPPED
    assert stale_plans([bench.scope], StaleSettings(enabled=True)).default_status is dg.DefaultSensorStatus.RUNNING


def evaluate(bench: Bench, sensor: dg.SensorDefinition) -> dg.SensorResult | dg.SkipReason:
    found = sensor(dg.build_sensor_context(bench.instance, definitions=bench.defs))
    assert isinstance(found, dg.SensorResult | dg.SkipReason)
    return found


def test_the_sensor_says_why_it_asks_for_nothing_and_one_broken_study_does_not_stop_it(bench: Bench):
    sensor = stale_plans([bench.scope], StaleSettings())
    found = evaluate(bench, sensor)
    assert isinstance(found, dg.SensorResult) and found.run_requests
    bench.run_all()
    assert evaluate(bench, sensor) == dg.SkipReason("nothing is stale")
    toml = (bench.study.folder / "study.toml").read_text()
    (bench.study.folder / "study.toml").write_text("[nonsense]\n")
    found = evaluate(bench, sensor)
    assert isinstance(found, dg.SkipReason) and "no such table" in str(found.skip_message)
    (bench.study.folder / "study.toml").write_text(toml)
    (bench.study.folder / "overrides.jsonl").write_text('{"gate": "G')
    found = evaluate(bench, sensor)
    assert isinstance(found, dg.SkipReason) and "overrides.jsonl: line 1" in str(found.skip_message)
