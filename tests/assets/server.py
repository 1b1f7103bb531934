"""Dagster's web server and daemon as an operator runs them, and the few things that the tests ask of them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._grpc.client import DagsterGrpcClient

from assets.instance import CHECKOUT

LAUNCH = """
mutation($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message }
  }
}"""
STATUS = """
query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }
"""
PARTITIONS = """
query($path: [String!]!) { assetNodeOrError(assetKey: {path: $path}) { ... on AssetNode { partitionKeys } } }
"""
TICKS = """
query($sensor: String!) {
  sensorOrError(sensorSelector: {
    repositoryLocationName: "sbench-dag", repositoryName: "__repository__", sensorName: $sensor
  }) { ... on Sensor { sensorState { ticks(limit: 20) { status skipReason error { message } } } } }
}"""
TERMINATE = """
mutation($id: String!) { terminateRun(runId: $id) { __typename ... on PythonError { message } } }
"""


@contextmanager
def ui(workspace: Path = Path("workspace.yaml")) -> Iterator[int]:
    """Both processes, until the block ends; the web server's port."""
    with servers(workspace) as (port, _, _):
        yield port


@contextmanager
def servers(workspace: Path = Path("workspace.yaml")) -> Iterator[tuple[int, Program, Program]]:
    """The web server's port, the web server and the daemon, until the block ends."""
    port = free_port()
    web = [sys.executable, "-m", "dagster_webserver", "-w", str(workspace), "-p", str(port)]
    daemon = [sys.executable, str(Path(__file__).with_name("daemon.py")), "-w", str(workspace)]
    with processes(web, daemon) as (web_server, its_daemon):
        wait_until(lambda: answers(port), 60)
        yield port, web_server, its_daemon


@contextmanager
def shared_code_server(folder: Path) -> Iterator[Path]:
    """A code server for web server and daemon, as `dagster dev` starts one; the workspace file that names it."""
    port = free_port()
    serve = [sys.executable, "-m", "dagster", "code-server", "start", "-m", "assets.definitions", "-p", str(port)]
    server = {"host": "localhost", "port": port, "location_name": "sbench-dag"}
    workspace = folder / "shared.yaml"
    workspace.write_text(json.dumps({"load_from": [{"grpc_server": server}]}))
    with processes(serve):
        wait_until(lambda: is_served(port), 120)
        yield workspace


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def is_served(port: int) -> bool:
    try:
        return bool(DagsterGrpcClient(port=port, host="localhost").get_server_id())
    except DagsterUserCodeUnreachableError:
        return False


def launch(port: int, selection: Sequence[dict], partitions: Sequence[str] | None) -> str:
    """Starts a backfill; its id. partitions: those of the first assets, None for all of all assets."""
    which = {"allPartitions": True} if partitions is None else {"partitionNames": list(partitions)}
    params = {"assetSelection": selection, "tags": [], **which}
    launched = ask(port, LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    return launched["backfillId"]


def backfill_status(port: int, backfill: str) -> str:
    return ask(port, STATUS, id=backfill)["partitionBackfillOrError"]["status"]


def partitions(port: int, *asset: str) -> list[str]:
    """As the web server shows them."""
    return ask(port, PARTITIONS, path=asset)["assetNodeOrError"]["partitionKeys"]


def ticks(port: int, sensor: str) -> list[dict[str, Any]]:
    """The last 20 of a sensor, latest first: status, skipReason, error."""
    return ask(port, TICKS, sensor=sensor)["sensorOrError"]["sensorState"]["ticks"]


def terminate(port: int, run: str) -> None:
    """As the button in the UI does."""
    answer = ask(port, TERMINATE, id=run)["terminateRun"]
    assert answer["__typename"] == "TerminateRunSuccess", answer


class Program:
    """A command that runs in the checkout, in a process group of its own; it can be killed and started again."""

    def __init__(self, command: list[str]):
        self._command, self._started = command, list[subprocess.Popen]()
        self.start()

    def start(self) -> None:
        # a test run in the background ignores SIGINT, by which Dagster ends its own children
        heeding = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}  # as `make` says
        process = subprocess.Popen(
            self._command, cwd=CHECKOUT, env=environment, start_new_session=True, preexec_fn=heeding
        )
        self._started.append(process)

    def kill(self) -> None:
        """It alone, without a chance to tell its children."""
        self._started[-1].kill()
        self._started[-1].wait()

    def kill_group(self) -> None:
        """With all that it has started: code servers, runs, workers."""
        os.killpg(self._started[-1].pid, signal.SIGKILL)
        self._started[-1].wait()

    def end(self) -> None:
        for process in self._started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

    def wait(self, timeout_s: float = 30) -> int:
        """The exit status of the last one."""
        return [process.wait(timeout_s) for process in self._started][-1]


@contextmanager
def processes(*commands: list[str]) -> Iterator[list[Program]]:
    """Runs commands until the block ends."""
    started = [Program(command) for command in commands]
    try:
        yield started
    finally:
        for program in started:
            program.end()
        for program in started:
            program.wait()


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
