"""The jobs `retry_failed` and `nightly_rescore`: they run what has to be, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.errors import DagsterExecutionInterruptedError

from assets.jobs import nightly_rescore, nightly_schedule, retry_failed
from assets.operations import NightlySettings
from assets.report import summary
from assets.run import Request, Runner
from assets.scope import Scope
from assets.started_by import STARTED_BY, is_cancelled
from resources.cluster import ClusterResource
from sbench_dag.study import create_study
from tests.assets.support import Bench, Pretended, failing, failure_of, without


@pytest.fixture(autouse=True)
def cluster(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    """Jobs take their cluster from Dagster's resources, which have to be of the real class."""

    def run(self: ClusterResource, *args, **kwargs):
        return bench.cluster.run(*args, **kwargs)

    monkeypatch.setattr(ClusterResource, "run", run)
    return bench.cluster


def execute(bench: Bench, job: dg.JobDefinition, studies: list[str] | None = None) -> dg.ExecuteInProcessResult:
    defs = dg.Definitions(jobs=[job], resources={"cluster": ClusterResource()})
    config = {"ops": {f"{job.name}_of": {"config": {"studies": studies}}}} if studies is not None else {}
    return defs.resolve_job_def(job.name).execute_in_process(
        instance=bench.instance, run_config=config, raise_on_error=False
    )


def runs_of(bench: Bench, parent: str) -> list[str]:
    """The steps of the runs that a job started, in their order."""
    runs = bench.instance.get_runs(dg.RunsFilter(tags={STARTED_BY: parent}), ascending=True)
    return [sorted(run.asset_selection or ())[0].path[1] for run in runs]


def test_retry_failed_runs_what_failed_in_one_run_per_gate_and_the_report(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.must("g0_spike")
    bench.cluster.judge = failing(plans[3], plans[17], gate="stage_b")
    for name in ("stage_b", "stage_c", "rollout_rewards", "report"):
        bench.run(name)
    bench.cluster.judge, bench.cluster.calls = failing(gate="none"), []
    result = execute(bench, retry_failed([bench.scope]))
    assert result.success
    assert bench.cluster.keys("stage_b") == [plans[3], plans[17]]
    assert runs_of(bench, result.run_id).count("stage_b") == 1
    assert bench.status("stage_b") == (set(plans), set())
    assert runs_of(bench, result.run_id)[-2:] == ["report", "summary"]


def test_retry_failed_leaves_alone_what_never_ran(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.must("g0_spike")
    bench.cluster.judge = failing(plans[0], plans[2], gate="stage_b")
    bench.run("stage_b", keys=plans[:1])
    bench.run("stage_b", keys=plans[2:3])
    bench.cluster.judge, bench.cluster.calls = failing(gate="none"), []
    execute(bench, retry_failed([bench.scope]))
    assert bench.cluster.keys("stage_b") == [plans[0], plans[2]], "and not the one between them"


def test_retry_failed_fails_with_what_is_still_without_a_result(bench: Bench):
    bench.cluster.judge = failing("val_0002__0", gate="g0_spike")
    bench.run("g0_spike")
    text = failure_of(execute(bench, retry_failed([bench.scope])))
    assert text.startswith("by-hand: g0_spike: 1 of 1 partitions have no result (1 invalid.worker_crashed)")


def test_a_study_that_is_not_there_is_named(bench: Bench):
    text = failure_of(execute(bench, retry_failed([bench.scope]), ["by-hand", "nonsense"]))
    assert "no study nonsense here; there are by-hand" in text
    assert bench.cluster.calls == []


def test_one_broken_study_does_not_stop_the_others(bench: Bench, home: Path):
    bench.run_all()
    broken = Scope(create_study("a-broken-one", home / "datasets" / "by-hand"))
    (broken.study.folder / "study.toml").write_text("[nonsense]\n")
    result = execute(bench, nightly_rescore([broken, bench.scope]))
    assert "a-broken-one: InputError: " in failure_of(result)
    assert runs_of(bench, result.run_id) == ["summary"], "of the other one"


def test_a_run_that_ends_with_its_job_is_cancelled_and_has_not_failed(bench: Bench):
    def terminated(gate: str, key: str):
        raise DagsterExecutionInterruptedError

    cancelled = bench.instance.create_run_for_job(bench.job)
    bench.instance.report_run_canceling(cancelled)
    parent = cancelled.run_id
    runner = Runner(bench.instance, bench.study, ClusterResource(), tags={STARTED_BY: parent})
    bench.cluster.judge = terminated
    with pytest.raises(KeyboardInterrupt):
        runner.run(Request(("g0_spike",)))
    [run] = bench.instance.get_runs(dg.RunsFilter(tags={STARTED_BY: parent}))
    assert run.status is dg.DagsterRunStatus.CANCELED


def test_the_night_scores_what_is_new_and_simulates_nothing(bench: Bench):
    picks = bench.partitions("rollout_rewards")
    for name in ("g0_spike", "stage_b"):
        bench.must(name)
    bench.cluster.judge = failing(picks[4], gate="stage_c")
    bench.run("stage_c")
    bench.cluster.calls = []
    result = execute(bench, nightly_rescore([bench.scope]))
    assert result.success
    assert {gate for gate, _ in bench.cluster.calls} == {"rollout_rewards"}
    assert bench.status("rollout_rewards") == (without(picks, picks[4]), set()), "no rollout, no score"
    assert runs_of(bench, result.run_id)[-2:] == ["report", "summary"]


def test_a_night_without_news_writes_the_summary_and_nothing_else(bench: Bench):
    bench.run_all()
    bench.cluster.calls = []
    result = execute(bench, nightly_rescore([bench.scope]))
    assert result.success and bench.cluster.calls == []
    assert runs_of(bench, result.run_id) == ["summary"], "its age is what the freshness policy reads"


def test_who_terminates_a_job_means_the_runs_that_it_started(bench: Bench):
    job = bench.instance.create_run_for_job(bench.job)
    inner = bench.instance.create_run_for_job(bench.job, tags={STARTED_BY: job.run_id})
    assert not is_cancelled(bench.instance, inner.run_id)
    bench.instance.report_run_canceling(job)
    assert is_cancelled(bench.instance, inner.run_id)
    assert not is_cancelled(bench.instance, "a run that nobody knows")


def test_the_schedule_is_off_in_the_demo_and_on_by_one_setting(bench: Bench):
    job = nightly_rescore([bench.scope])
    assert nightly_schedule(job, NightlySettings()).default_status is dg.DefaultScheduleStatus.STOPPED
    on = nightly_schedule(job, NightlySettings(enabled=True, cron="30 2 * * *", timezone="Europe/Berlin"))
    assert on.default_status is dg.DefaultScheduleStatus.RUNNING
    assert (on.cron_schedule, on.execution_timezone) == ("30 2 * * *", "Europe/Berlin")


def test_with_the_schedule_on_the_report_must_not_be_old(bench: Bench):
    [spec] = summary(bench.scope).specs
    assert spec.freshness_policy is None
    [spec] = summary(Scope(bench.study, timedelta(hours=26))).specs
    assert spec.freshness_policy == dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26))
