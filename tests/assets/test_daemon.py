"""The instance's settings, with Dagster's real daemon: what may run at a time, and what becomes of lost runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.instance import CHECKOUT
from sbench_dag.study import Study
from tests.assets.scenes import two_scenes
from tests.assets.server import backfill_status, launch, shared_code_server, ui, wait_until
from tests.running import run_here

STARTED, QUEUED = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.QUEUED
DONE = "COMPLETED_SUCCESS"


@pytest.fixture
def instance(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    with dg.DagsterInstance.get() as found:
        yield found


def held(home: Path, name: str) -> Study:
    """A study whose Stage C waits until the file `hold` is gone."""
    study = two_scenes(home, name, blocks=1)
    run_here(study, "g0_spike", "stage_b")
    (home / "hold").touch()
    return study


def launch_all(port: int, study: Study, asset: str) -> str:
    keys = study.manifest.episodes if asset == "report" else [plan.key for plan in study.manifest.plans]
    return launch(port, [{"path": [study.name, asset]}], keys)


def runs(instance: dg.DagsterInstance, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
    """Newest first."""
    return list(instance.get_runs(dg.RunsFilter(statuses=statuses or None)))


def worker(instance: dg.DagsterInstance, run: dg.DagsterRun) -> int:
    """The process of a run."""
    events = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    [first, *_] = [m["pid"] for m in (e.get_dagster_event().engine_event_data.metadata for e in events) if "pid" in m]
    return int(str(first.value))


def test_one_gate_simulates_at_a_time_and_reports_pass_it_by(home: Path, instance: dg.DagsterInstance):
    one, other = held(home, "one"), held(home, "other")
    with ui() as port:
        gates = [launch_all(port, study, "stage_c") for study in (one, other)]
        wait_until(lambda: len(runs(instance)) == 2 and runs(instance, STARTED) and (home / "calls").exists(), 120)
        report = launch_all(port, one, "report")
        wait_until(lambda: backfill_status(port, report) == DONE, 120)
        assert len(runs(instance, STARTED)) == len(runs(instance, QUEUED)) == 1, "the other gate waits for its turn"
        (home / "hold").unlink()
        wait_until(lambda: all(backfill_status(port, gate) == DONE for gate in gates), 120)
    first, second = sorted(
        (record.start_time or 0, record.end_time or 0)
        for record in instance.get_run_records()
        if "stage_c" in str(record.dagster_run.asset_selection)
    )
    assert first[1] <= second[0]


def test_a_run_whose_worker_is_killed_fails_at_once_and_is_run_again(home: Path, instance: dg.DagsterInstance):
    study = held(home, "held")
    with ui() as port:
        backfill = launch_all(port, study, "stage_c")
        wait_until(lambda: runs(instance, STARTED) and (home / "calls").exists(), 120)
        [lost] = runs(instance, STARTED)
        os.kill(worker(instance, lost), signal.SIGKILL)
        wait_until(lambda: _status(instance, lost) is dg.DagsterRunStatus.FAILURE, 30)
        (home / "hold").unlink()
        wait_until(lambda: backfill_status(port, backfill) == DONE, 180)
    assert_run_again(instance, lost)


def test_runs_that_went_down_with_the_machine_are_found_and_run_again(home: Path, instance: dg.DagsterInstance):
    study = held(home, "held")
    with ui() as port:
        backfill = launch_all(port, study, "stage_c")
        wait_until(lambda: runs(instance, STARTED) and (home / "calls").exists(), 120)
        [lost] = runs(instance, STARTED)
        os.killpg(os.getpgid(worker(instance, lost)), signal.SIGKILL)  # its code server and the daemon too
    (home / "hold").unlink()
    with ui() as port:
        wait_until(lambda: _status(instance, lost) is dg.DagsterRunStatus.FAILURE, 60)
        wait_until(lambda: backfill_status(port, backfill) == DONE, 180)
    assert_run_again(instance, lost)


def test_with_a_code_server_of_its_own_a_run_outlives_a_restart_of_the_daemon(home: Path, instance: dg.DagsterInstance):
    """As docs/systemd runs it."""
    study = held(home, "held")
    with shared_code_server(home) as workspace:
        with ui(workspace) as port:
            backfill = launch_all(port, study, "stage_c")
            wait_until(lambda: runs(instance, STARTED) and (home / "calls").exists(), 120)
            [run] = runs(instance, STARTED)
        assert _status(instance, run) is STARTED
        (home / "hold").unlink()
        wait_until(lambda: _status(instance, run) is dg.DagsterRunStatus.SUCCESS, 60)
        with ui(workspace) as port:
            wait_until(lambda: backfill_status(port, backfill) == DONE, 120)
    assert len(runs(instance)) == 1


def assert_run_again(instance: dg.DagsterInstance, lost: dg.DagsterRun) -> None:
    [again] = [run for run in runs(instance) if run.run_id != lost.run_id]
    assert again.parent_run_id == lost.run_id
    assert again.status is dg.DagsterRunStatus.SUCCESS


def _status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status
