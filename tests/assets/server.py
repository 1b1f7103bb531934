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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
TERMINATE = """
mutation($id: String!) { terminateRun(runId: $id) { __typename ... on PythonError { message } } }
"""


@contextmanager
def ui() -> Iterator[int]:
    """Both processes, until the block ends; the web server's port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = [sys.executable, "-m", "dagster_webserver", "-w", "workspace.yaml", "-p", str(port)]
    daemon = [sys.executable, str(Path(__file__).with_name("daemon.py")), "-w", "workspace.yaml"]
    with processes(web, daemon):
        wait_until(lambda: answers(port), 60)
        yield port


def launch(port: int, selection: Sequence[dict], partitions: Sequence[str]) -> str:
    """Starts a backfill; its id."""
    params = {"assetSelection": selection, "partitionNames": list(partitions), "tags": []}
    launched = ask(port, LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    return launched["backfillId"]


def backfill_status(port: int, backfill: str) -> str:
    return ask(port, STATUS, id=backfill)["partitionBackfillOrError"]["status"]


def terminate(port: int, run: str) -> None:
    """As the button in the UI does."""
    answer = ask(port, TERMINATE, id=run)["terminateRun"]
    assert answer["__typename"] == "TerminateRunSuccess", answer


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
