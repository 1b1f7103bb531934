"""Reloading the code location from inside: its partitions are those of the manifest that it was loaded with."""

from __future__ import annotations

import subprocess
import sys

from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.remote_origin import CodeLocationOrigin, GrpcServerCodeLocationOrigin

from assets.instance import CHECKOUT

TIMEOUT_S = 40  # a sensor's tick may take 60 s
_LOAD = "import dagster as dg; from assets.definitions import defs; dg.Definitions.validate_loadable(defs)"


def can_reload(origin: CodeLocationOrigin | None) -> bool:
    """Whether web server and daemon share a code server: `dagster dev`'s, or a `dagster code-server start`.

    Else each has its own, and nobody can ask the web server's for anything.
    """
    return isinstance(origin, GrpcServerCodeLocationOrigin)


def reload_location(origin: CodeLocationOrigin | None) -> str:
    """Returns once web server and daemon will see the new definitions, or with why they won't.

    The shared server starts a new process and turns to it when that has loaded. Runs stay with the old one, which ends
    after the last of them. A process that can't load would take the location down, so that is tried first.
    """
    assert isinstance(origin, GrpcServerCodeLocationOrigin)
    broken = load_error()
    if broken:
        return f"not reloaded, because the code location would not load: {broken}"
    client = origin.create_client()
    try:
        before = client.get_server_id()
        client.reload_code(timeout=TIMEOUT_S)
        after = client.get_server_id()
    except DagsterUserCodeUnreachableError as error:
        return f"the code server did not reload: {error}; the next look tries again"
    if before == after:
        return (
            "the code server can't be reloaded: restart it, as `dagster code-server start` instead of "
            "`dagster api grpc`, and without --fixed-server-id (docs/new-data.md)"
        )
    return ""


def load_error() -> str:
    """What a new process says when it loads the definitions; empty if it can."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOAD], cwd=CHECKOUT, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return f"not within {TIMEOUT_S} s"
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""
