"""A process that was killed leaves a run in progress; the daemon, or the next one at a terminal, ends it."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.launcher.base import WorkerStatus
from dagster._daemon.monitoring.run_monitoring import monitor_started_run

from assets import instance as instance_module
from assets.__main__ import main
from assets.instance import CHECKOUT, fail_lost_runs, process_tags
from assets.launcher import WatchedRunLauncher
from sbench_dag.work.store import Store
from tests.assets.scenes import two_scenes
from tests.assets.server import wait_until
from tests.assets.support import Bench

UNFINISHED = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING])


def started(bench: Bench, tags: dict[str, str]) -> str:
    """A run that a process of these tags has begun; its id."""
    return bench.instance.create_run_for_job(bench.job, status=dg.DagsterRunStatus.STARTED, tags=tags).run_id


def status(bench: Bench, run: str) -> dg.DagsterRunStatus:
    found = bench.instance.get_run_by_id(run)
    assert found is not None
    return found.status


@pytest.fixture
def killed() -> Iterator[dict[str, str]]:
    """The tags of a process that was killed and that its parent has not waited for."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from assets.instance import process_tags as p; import json; print(json.dumps(p()), flush=True); input()",
        ],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    tags = json.loads(process.stdout.readline())
    process.kill()
    stat = Path(f"/proc/{process.pid}/stat")
    wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", 10)
    yield tags
    process.communicate()


def test_runs_of_dead_processes_end_and_those_of_living_ones_do_not(bench: Bench, killed: dict[str, str]):
    dead, mine = started(bench, killed), started(bench, process_tags())
    elsewhere = started(bench, {**killed, "sbench/host": "another-machine"})
    dagsters_own = started(bench, {})
    assert fail_lost_runs(bench.instance) == 1
    assert status(bench, dead) == dg.DagsterRunStatus.FAILURE
    assert {status(bench, run) for run in (mine, elsewhere, dagsters_own)} == {dg.DagsterRunStatus.STARTED}


def test_a_backfill_that_looks_at_the_moment_of_failure_waits_for_the_second_try(bench: Bench, killed: dict[str, str]):
    """Dagster stores that a run has failed before it stores that the run will be tried again."""
    launcher = WatchedRunLauncher()
    launcher.register_instance(bench.instance)
    dead, mine = started(bench, killed), started(bench, process_tags())
    health = [launcher.check_run_worker_health(run) for run in map(bench.instance.get_run_by_id, (dead, mine)) if run]
    assert [found.status for found in health] == [WorkerStatus.FAILED, WorkerStatus.RUNNING]
    failed = dg.DagsterEvent(dg.DagsterEventType.RUN_FAILURE.value, bench.job.name)
    bench.instance.run_storage.handle_run_event(dead, failed, datetime.now(UTC))  # the first of the two writes
    found = bench.instance.get_run_by_id(dead)
    assert found is not None
    assert found.status is dg.DagsterRunStatus.FAILURE
    assert found.is_complete_and_waiting_to_retry


def test_a_number_that_another_process_has_by_now_keeps_nothing_alive(bench: Bench):
    run = started(bench, {**process_tags(), "sbench/born": "1"})
    assert fail_lost_runs(bench.instance) == 1
    assert status(bench, run) == dg.DagsterRunStatus.FAILURE


def test_a_run_that_ends_while_we_look_stays_as_it_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    run = started(bench, process_tags())

    def ends_meanwhile(tags: object) -> bool:
        bench.instance.report_run_canceled(bench.instance.get_run_by_id(run))  # type: ignore[arg-type]
        return False

    monkeypatch.setattr(instance_module, "_is_alive", ends_meanwhile)
    assert fail_lost_runs(bench.instance) == 0
    assert status(bench, run) == dg.DagsterRunStatus.CANCELED


def test_the_daemon_ends_what_kill_9_left_and_nothing_is_computed_twice(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    (home / "dagster").mkdir(parents=True)
    study = two_scenes(home, delay_s=0.4)
    store = Store(study.results)
    with dg.DagsterInstance.get() as instance:
        bench = Bench(study, instance)
        run = subprocess.Popen(
            [sys.executable, "-m", "assets", "run"], cwd=CHECKOUT, env=dict(os.environ), start_new_session=True
        )
        wait_until(lambda: list(store.lines("stage_c")) or run.poll() is not None, 120)
        run.send_signal(signal.SIGKILL)
        run.wait()
        wait_until(lambda: is_gone(run.pid), 30)  # its workers notice and end
        done = {line.key for line in store.lines("stage_c")}
        assert 0 < len(done) < len(bench.partitions("stage_c"))
        assert len(instance.get_runs(UNFINISHED)) == 1 and bench.in_progress("stage_c")

        monitor(instance)
        assert instance.get_runs(UNFINISHED) == [] and not bench.in_progress("stage_c")

        assert main(["run", "--workers", "1"]) == 0
        assert bench.status("stage_c") == (set(bench.partitions("stage_c")), set())
        keys = [line.key for line in store.lines("stage_c") if line.outcome.is_result]
        assert sorted(keys) == sorted(bench.partitions("stage_c")), "each once"


def monitor(instance: dg.DagsterInstance) -> None:
    """What the daemon's run monitoring does every 15 s."""
    for record in instance.get_run_records(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        monitor_started_run(instance, None, record, logging.getLogger())  # type: ignore[arg-type]


def is_gone(group: int) -> bool:
    """Whether no process of it is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
