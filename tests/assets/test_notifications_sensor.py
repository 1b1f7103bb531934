"""The sensor that tells of failed runs: each once, whoever started it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import TickStatus

from assets.instance import CHECKOUT
from assets.notifications.message import failure_of
from assets.notifications.sensor import failure_hook
from assets.operations import NotifySettings
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from tests.assets.scenes import two_scenes
from tests.assets.server import backfill_status, launch, ui, wait_until
from tests.assets.support import Bench, failing
from tests.assets.targets import free_port, web


class Hook:
    """The sensor over a bench's runs, tick after tick as the daemon calls it."""

    def __init__(self, bench: Bench, folder: Path, **settings: str):
        self.file = folder / "failures.jsonl"
        self.settings = NotifySettings(file=str(self.file), **settings)
        self._bench, self._cursor = bench, None
        self.tick()  # the first one only notes where the log ends

    def tick(self) -> list[dg.DagsterRunReaction]:
        sensor = failure_hook([self._bench.scope], self.settings)
        context = dg.build_sensor_context(self._bench.instance, self._cursor)
        found = sensor.evaluate_tick(context)
        self._cursor = found.cursor
        return list(found.dagster_run_reactions)

    def forget(self) -> None:
        """As if the tick had been cut short before its cursor was stored."""
        self._cursor = self._before

    def remember(self) -> None:
        self._before = self._cursor

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []


@pytest.fixture
def hook(bench: Bench, tmp_path: Path) -> Hook:
    return Hook(bench, tmp_path)


def test_a_failed_run_is_told_once_with_what_is_missing_and_why(bench: Bench, hook: Hook):
    first, second, third = bench.partitions("stage_b")[:3]
    bad = {
        second: Result(Outcome.INVALID, Reason.TIMED_OUT, "took more than 600 s"),
        third: Result(Outcome.INVALID, Reason.TIMED_OUT, "took more than 600 s"),
        first: Result(Outcome.INVALID, Reason.WORKER_CRASHED, "killed its worker 2 times"),
    }
    bench.must("g0_spike")
    bench.cluster.judge = lambda gate, key: bad.get(key) or Result(Outcome.SUCCESS, row={"reached": True})
    failed = bench.run("stage_b")
    bench.must("g0_spike")
    hook.tick()
    hook.tick()
    [line] = hook.lines()
    assert line.pop("when").startswith("20")
    assert line == {
        "study": "by-hand",
        "gate": "stage_b",
        "run": failed.run_id,
        "without_result": 3,
        "requested": 20,
        "reasons": {"invalid.timed_out": 2, "invalid.worker_crashed": 1},
        "messages": [
            f"timed_out, for one {second}: took more than 600 s",
            f"worker_crashed, for one {first}: killed its worker 2 times",
        ],
        "link": f"http://localhost:3000/runs/{failed.run_id}",
        "not_told": {},
    }


def test_a_tick_that_was_cut_short_tells_nothing_twice(bench: Bench, tmp_path: Path):
    with web() as server:
        hook = Hook(bench, tmp_path, webhook=server.url)
        hook.remember()
        bench.cluster.judge = failing("val_0001__0", gate="g0_spike")
        bench.run("g0_spike")
        hook.tick()
        hook.forget()
        hook.tick()
    assert len(hook.lines()) == len(server.got) == 1


def test_who_was_not_told_is_in_the_file_and_is_not_tried_for_ever(bench: Bench, tmp_path: Path):
    hook = Hook(bench, tmp_path, slack=f"http://127.0.0.1:{free_port()}", webhook="env:NOT_THERE")
    bench.cluster.judge = failing("val_0001__0", gate="g0_spike")
    bench.run("g0_spike")
    [reaction] = hook.tick()
    assert reaction.error is None
    assert hook.tick() == []
    [line] = hook.lines()
    assert "Connection refused" in line["not_told"]["slack"]
    assert "notify.webhook = 'env:NOT_THERE'" in line["not_told"]["webhook"]


def test_a_run_that_the_user_has_to_put_right_tells_what_he_reads_in_the_ui(bench: Bench, hook: Hook):
    (bench.study.folder / "study.toml").write_text("[dataset]\npath = 3\n")
    bench.run("g0_spike")
    hook.tick()
    [line] = hook.lines()
    assert (line["study"], line["gate"], line["requested"]) == ("by-hand", "g0_spike", None)
    [message] = line["messages"]
    assert "study.toml: scenes = None" in message and "Traceback" not in message


def test_a_bug_is_told_without_its_traceback(bench: Bench, hook: Hook):
    def broken(gate: str, key: str) -> Result:
        raise ZeroDivisionError("by nothing " + 1000 * "x")

    bench.cluster.judge = broken
    bench.run("g0_spike")
    hook.tick()
    [message] = hook.lines()[0]["messages"]
    assert message.startswith("ZeroDivisionError: by nothing") and len(message) == 500


def test_a_run_that_ended_from_outside_tells_so(bench: Bench, hook: Hook):
    run = bench.instance.create_run_for_job(
        bench.job, asset_selection=frozenset([bench.scope.key("stage_c")]), status=dg.DagsterRunStatus.STARTED
    )
    bench.instance.report_run_failed(run, "its process was killed")
    hook.tick()
    [line] = hook.lines()
    assert (line["study"], line["gate"], line["messages"]) == ("by-hand", "stage_c", ["its process was killed"])


def test_a_cancelled_run_is_no_failure(bench: Bench, hook: Hook):
    run = bench.instance.create_run_for_job(bench.job, status=dg.DagsterRunStatus.STARTED)
    bench.instance.report_run_canceled(run)
    assert hook.tick() == [] and hook.lines() == []


def test_the_gate_of_a_job_without_a_selection_is_found_by_its_step(bench: Bench):
    bench.cluster.judge = failing("val_0001__0", gate="g0_spike")
    job = dg.Definitions(
        assets=bench.defs.assets,
        resources={"cluster": bench.cluster},
        jobs=[dg.define_asset_job("nightly", [bench.scope.key("g0_spike")])],
    ).resolve_job_def("nightly")
    result = job.execute_in_process(instance=bench.instance, partition_key="val_0001__0", raise_on_error=False)
    run = bench.instance.get_run_by_id(result.run_id)
    assert run is not None and not run.asset_selection
    failure = failure_of(bench.instance, run, [bench.scope.key("g0_spike"), bench.scope.key("stage_b")], "http://ui/")
    assert (failure.study, failure.gate) == ("by-hand", "g0_spike")
    assert failure.headline == "by-hand / g0_spike: 1 of 1 partitions have no result"
    assert failure.link == f"http://ui/runs/{result.run_id}"


def test_the_daemon_tells_of_its_own_runs_and_of_those_at_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    (home / "dagster").mkdir(parents=True)
    study = two_scenes(home, blocks=1)
    for episode in ("a__0", "b__0"):
        (study.dataset_path / "episodes" / episode / "final_state.npz").write_bytes(b"PK broken")
    terminal = [sys.executable, "-m", "assets", "run", "--gate", "g0_spike"]
    file = home / "dagster" / "failures.jsonl"

    def lines() -> list[dict]:
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    with dg.DagsterInstance.get() as instance:

        def ticks() -> int:
            [state] = [s for s in instance.all_instigator_state() if s.instigator_name == "tell_failures"] or [None]
            if state is None:
                return 0
            found = instance.get_ticks(state.instigator_origin_id, state.selector_id)
            return sum(tick.status != TickStatus.STARTED for tick in found)

        with ui() as port:
            wait_until(lambda: ticks() >= 1, 120)
            backfill = launch(port, [{"path": [study.name, "g0_spike"]}], study.manifest.episodes)
            assert subprocess.run(terminal, cwd=CHECKOUT, env=dict(os.environ), capture_output=True).returncode == 1
            wait_until(lambda: backfill_status(port, backfill) == "COMPLETED_FAILED", 180)
            failed = {run.run_id for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))}
            assert len(failed) == 2
            wait_until(lambda: {line["run"] for line in lines()} == failed, 60)
            told = ticks()
            wait_until(lambda: ticks() >= told + 2, 60)
    assert sorted(line["run"] for line in lines()) == sorted(failed)
    for line in lines():
        assert (line["study"], line["gate"], line["without_result"]) == ("blocks", "g0_spike", 2)
        assert "final_state.npz" in line["messages"][0]
