"""A study under real servers keeps itself up to date, whatever is killed, and nothing is computed twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from assets.catch_up import next_runs
from assets.events import step_failure_text
from assets.memory import Memory
from assets.run import STEPS
from sbench_dag.stale import Scan, Scanner, State
from sbench_dag.study import Study
from sbench_dag.work.store import Store
from tests.assets.scenes import two_scenes
from tests.assets.server import Program, answers, backfill_status, launch, processes, servers, ticks, ui, wait_until
from tests.assets.support import Bench, touch
from tests.running import run_here

GATES = ("g0_spike", "stage_b", "rollout", "stage_c", "rollout_rewards")
STARTED = dg.DagsterRunStatus.STARTED
WORKERS = 2
PATIENCE_S = 900  # each step needs processes that take half a minute to begin on a busy machine


class Operator:
    """Looks at one study of the instance that the servers use, and touches nothing."""

    def __init__(self, home: Path, study: Study, instance: dg.DagsterInstance):
        self.home, self.study, self.instance = home, study, instance
        self.bench = Bench(study, instance)
        self.picks = self.bench.partitions("stage_c")
        self._scanner = Scanner(study.folder)

    def scan(self) -> Scan:
        return self._scanner.scan()

    def is_through(self) -> bool:
        """Whether every item of every step is fresh and Dagster has been told."""
        fresh = all(item.state is State.FRESH for items in self.scan().steps.values() for item in items.values())
        return fresh and not self.runs(*NOT_FINISHED_STATUSES) and self._asks_for_nothing()

    def _asks_for_nothing(self) -> bool:
        plan = next_runs(Memory(self.instance), self.bench.scope, self.scan)
        return not plan.requests and not plan.notes

    def runs(self, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
        return list(self.instance.get_runs(dg.RunsFilter(statuses=statuses or None)))

    def calls(self) -> Counter[str]:
        """How often the policy was asked to pick each block."""
        file = self.home / "calls"
        return Counter(file.read_text().split()) if file.exists() else Counter()

    def lines(self, gate: str) -> Counter[str]:
        """How many lines the store has of each item."""
        return Counter(line.key for line in Store(self.study.results).lines(gate))

    def worker(self) -> int | None:
        """The process of a run that is under way."""
        for run in self.runs(STARTED):
            for entry in self.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
                metadata = entry.get_dagster_event().engine_event_data.metadata
                if "pid" in metadata and runs_still(pid := int(str(metadata["pid"].value))):
                    return pid
        return None

    def assert_up_to_date(self) -> None:
        for step in STEPS[:-1]:
            assert self.bench.status(step) == (set(self.bench.partitions(step)), set()), step
            assert self.bench.in_progress(step) == set(), step

    def assert_nothing_twice(self) -> None:
        for gate in GATES:
            items = self.study.manifest.episodes if gate == "g0_spike" else self.picks
            assert self.lines(gate) == dict.fromkeys(items, 1), gate


def runs_still(pid: int) -> bool:
    """A process that nobody has reaped yet has no command line any more."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False


@pytest.fixture
def operator(served_home: Path) -> Iterator[Operator]:
    """A study of six slow picks, nothing of it run, and a sensor that looks every second."""
    (served_home / "operations.toml").write_text("[stale]\nenabled = true\ninterval_s = 1\n")
    (served_home / "cluster.toml").write_text(f"[local]\nworkers = {WORKERS}\n")
    study = two_scenes(served_home, delay_s=2.0)
    with dg.DagsterInstance.get() as instance:
        yield Operator(served_home, study, instance)


def test_the_sensor_alone_brings_a_study_up_to_date_and_after_a_change_only_what_has_changed(operator: Operator):
    with ui() as port:
        wait_until(operator.is_through, PATIENCE_S)
        wait_until(lambda: finds_nothing(port), 30)
        operator.assert_up_to_date()
        operator.assert_nothing_twice()
        assert len(operator.runs()) == len(STEPS), "a run for each step"

        pages, before = written(operator.study), operator.calls()
        touch(operator.bench, "b__0")
        wait_until(lambda: not operator.is_through(), 30)
        wait_until(operator.is_through, PATIENCE_S)
        wait_until(lambda: finds_nothing(port), 30)
    operator.assert_up_to_date()
    assert {call.split("/")[0] for call in operator.calls() - before} == {"b__0"}
    for gate in GATES:
        again = {key for key, count in operator.lines(gate).items() if count == 2}
        assert again == {key for key in operator.lines(gate) if key.startswith("b__0")}, gate
    changed = {name for name, time in written(operator.study).items() if time != pages[name]}
    assert {name for name in pages if "a__0" in name}.isdisjoint(changed)
    assert any("b__0" in name for name in changed) and "index.html" in changed


def test_whatever_is_killed_everything_gets_done_and_nothing_twice(operator: Operator):
    seed = int(os.environ.get("SBENCH_CHAOS_SEED") or time.time_ns() % 1_000_000)
    print(f"SBENCH_CHAOS_SEED={seed} does the same again, as far as time allows")
    chance, deaths = random.Random(seed), 0
    kinds = ["web server", "daemon", "run", "run and all around it"]
    chance.shuffle(kinds)
    with servers() as (port, web, daemon):
        for number, kind in enumerate(kinds):
            if number == len(kinds) // 2:
                wait_until(operator.calls, PATIENCE_S)  # the rest strikes when picks have begun
            wait_until(lambda: operator.worker() or operator.is_through(), PATIENCE_S)
            time.sleep(chance.uniform(0, 4))
            deaths += kill(kind, operator, web, daemon)
        wait_until(operator.is_through, PATIENCE_S)
        wait_until(lambda: answers(port) and finds_nothing(port), 60)
        done = len(operator.runs())
        operator.assert_up_to_date()
        operator.assert_nothing_twice()
        assert len(operator.runs()) == done
    calls = operator.calls()
    assert set(calls) == {f"{name}__0/block_{i}" for name in "ab" for i in range(3)}
    assert sum(calls.values()) <= len(operator.picks) + WORKERS * deaths


def test_two_terminals_at_once_do_everything_once(served_home: Path):
    study = two_scenes(served_home)
    (served_home / "hold").touch()
    command = [sys.executable, "-m", "assets", "run", "--study", study.name]
    with dg.DagsterInstance.get() as instance, processes(command, command) as terminals:
        operator = Operator(served_home, study, instance)
        stage_c = {operator.bench.scope.key("stage_c")}
        wait_until(lambda: [run.asset_selection for run in operator.runs(STARTED)] == [stage_c] * 2, PATIENCE_S)
        (served_home / "hold").unlink()
        assert [terminal.wait(PATIENCE_S) for terminal in terminals] == [0, 0]
        operator.assert_up_to_date()
        operator.assert_nothing_twice()
    assert set(operator.calls().values()) == {1}


def kill(kind: str, operator: Operator, web: Program, daemon: Program) -> bool:
    """Kills something and starts it again, if it is a server. Whether a run died of it."""
    worker = operator.worker()
    print(f"{time.strftime('%H:%M:%S')} kill -9: {kind} (the run under way: {worker})")
    try:
        if kind == "web server":
            web.kill()
            web.start()
        elif kind == "daemon":
            daemon.kill()
            daemon.start()
        elif worker is not None and kind == "run":
            os.kill(worker, signal.SIGKILL)
            return True
        elif worker is not None:
            os.killpg(os.getpgid(worker), signal.SIGKILL)
            daemon.kill()
            daemon.start()
            return True
    except ProcessLookupError:
        print("it had just ended")
    return False


def finds_nothing(port: int) -> bool:
    """Whether the sensor has looked twice in vain."""
    return [tick["skipReason"] for tick in ticks(port, "stale_plans")[:2]] == ["nothing is stale"] * 2


def written(study: Study) -> dict[str, float]:
    """When each page was."""
    return {str(file.relative_to(study.reports)): file.stat().st_mtime for file in study.reports.rglob("*.html")}


def test_partitions_that_go_while_runs_over_them_are_under_way_or_queued_end_these_runs(served_home: Path):
    study = two_scenes(served_home, blocks=1)
    run_here(study, "g0_spike", "stage_b")
    (served_home / "hold").touch()
    plans = [plan.key for plan in study.manifest.plans]
    with ui() as port, dg.DagsterInstance.get() as instance:
        backfills = [launch(port, [{"path": [study.name, "stage_c"]}], plans)]
        wait_until((served_home / "calls").exists, 120)
        backfills.append(launch(port, [{"path": [study.name, "stage_b"]}], plans))
        wait_until(lambda: instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED])), 60)
        shutil.rmtree(study.dataset_path / "episodes" / "b__0")
        assert study.refresh_manifest()
        (served_home / "hold").unlink()
        wait_until(lambda: all(is_over(instance, run) for run in instance.get_runs()), 180)
        wait_until(lambda: "REQUESTED" not in {backfill_status(port, b) for b in backfills}, 60)
        queued, under_way = instance.get_runs()
        assert {run.status for run in (queued, under_way)} == {dg.DagsterRunStatus.FAILURE}
        assert "b__0.q00" in failure(instance, queued)
        assert "1 of 2 partitions have no result" in failure(instance, under_way)
        assert "reload the UI" in failure(instance, under_way)


def failure(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str:
    """What the run that failed says of it; where inputs have events, Dagster looks at their partitions before we do."""
    [event] = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    return step_failure_text(event.get_dagster_event())


def is_over(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    found = instance.get_run_by_id(run.run_id)
    return found is not None and found.is_finished
