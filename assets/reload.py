"""Reloading the code location from inside: its partitions are those of the manifest that it was loaded with."""

from __future__ import annotations

import subprocess
import sys

from dagster._core.remote_origin import CodeLocationOrigin, GrpcServerCodeLocationOrigin

from assets.instance import CHECKOUT

TIMEOUT_S = 25  # of the check and of the reload: a sensor's tick may take 60 s in all
ID_TIMEOUT_S = 4
# with a broken operations.toml it would load too, and forget the settings that it has
_LOAD = (
    "import dagster as dg; from assets.operations import load_operations; load_operations(); "
    "from assets.definitions import defs; dg.Definitions.validate_loadable(defs)"
)


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
    try:
        client = origin.create_client()
        before = client.get_server_id(timeout=ID_TIMEOUT_S)
        client.reload_code(timeout=TIMEOUT_S)
        after = client.get_server_id(timeout=ID_TIMEOUT_S)
    except Exception as error:  # whatever it is, the tick says it
        return f"the code server did not reload: {type(error).__name__}: {error}; the next look tries again"
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
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"its process ended with {done.returncode}"
