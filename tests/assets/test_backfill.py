"""An operator's first click: select all, materialize all, in a web server with its daemon."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.instance import CHECKOUT
from sbench_dag.study import Study
from tests.assets.scenes import two_scenes
from tests.assets.support import Bench

GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report")
LAUNCH = """
mutation($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message }
  }
}"""
STATUS = """
query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }
"""


@contextmanager
def processes(*commands: list[str]) -> Iterator[None]:
    """Runs commands in the checkout, each in a process group of its own that ends with the block."""
    started = [subprocess.Popen(command, cwd=CHECKOUT, start_new_session=True) for command in commands]
    try:
        yield
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(30)


def ask(port: int, query: str, **variables: object) -> dict[str, Any]:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


def wait_until(condition, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.5)


def answers(port: int) -> bool:
    try:
        return bool(ask(port, "{ version }"))
    except OSError:
        return False


@pytest.fixture
def study(home: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Every plan of it is a pick, so that Dagster sees the same partitions in three gates."""
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    (home / "dagster").mkdir(parents=True)
    with dg.DagsterInstance.get():
        pass  # its files have to be there before two processes look for them, as `dagster dev` sees to
    return two_scenes(home, blocks=2)


def test_select_all_materialize_all_ends_with_every_gate_complete(study: Study):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = [sys.executable, "-m", "dagster_webserver", "-w", "workspace.yaml", "-p", str(port)]
    daemon = [sys.executable, str(Path(__file__).with_name("daemon.py")), "-w", "workspace.yaml"]
    selection = [{"path": [study.name, name]} for name in (*GATES, "summary")]
    with processes(web, daemon):
        wait_until(lambda: answers(port), 60)
        params = {"assetSelection": selection, "partitionNames": list(study.manifest.episodes), "tags": []}
        launched = ask(port, LAUNCH, params=params)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched

        def status() -> str:
            return ask(port, STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]

        wait_until(lambda: status() not in ("REQUESTED", "COMPLETING"), 240)
        final = status()

    with dg.DagsterInstance.get() as instance:
        assert final == "COMPLETED_SUCCESS", why(instance, launched["backfillId"])
        bench = Bench(study, instance)
        for gate in GATES:
            assert bench.status(gate) == (set(bench.partitions(gate)), set()), gate
        assert instance.get_latest_materialization_event(bench.scope.key("summary")) is not None
        for run in instance.get_runs():
            assert run.asset_selection and len(run.asset_selection) == 1, "no two gates share a run"
            kinds = [event.dagster_event_type for event in instance.all_logs(run.run_id)]
            assert dg.DagsterEventType.STEP_SKIPPED not in kinds


def why(instance: dg.DagsterInstance, backfill: str) -> list[object]:
    """What went wrong in a backfill and its runs."""
    found = instance.get_backfill(backfill)
    failed = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    logs = [entry.message for run in failed for entry in instance.all_logs(run.run_id) if entry.level >= logging.ERROR]
    return [found and found.error, *logs]
