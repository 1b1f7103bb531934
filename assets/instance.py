"""The Dagster instance that `python -m assets run` and the UI share."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef

from sbench_dag.study import home

CHECKOUT = Path(__file__).resolve().parents[1]
_HOST, _PID = "sbench/host", "sbench/pid"


def use_checkout() -> None:
    """Fills in what the environment leaves open, as the Makefile does."""
    os.environ.setdefault("SBENCH_HOME", str(CHECKOUT / ".sbench"))
    os.environ.setdefault("DAGSTER_HOME", str(CHECKOUT))
    storage = Path(os.environ.setdefault("SBENCH_DAGSTER", str(home() / "dagster")))
    storage.mkdir(parents=True, exist_ok=True)


def terminal_instance() -> dg.DagsterInstance:
    """The instance for a run at a terminal: what is printed stays there instead of being copied to a log."""
    nowhere = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
    ref = InstanceRef.from_dir(os.environ["DAGSTER_HOME"], overrides={"compute_logs": nowhere})
    return dg.DagsterInstance.from_ref(ref)


def process_tags() -> dict[str, str]:
    """Says of a run which process it is, since no daemon watches over it."""
    return {_HOST: socket.gethostname(), _PID: str(os.getpid())}


def fail_lost_runs(instance: dg.DagsterInstance) -> int:
    """Ends the runs of processes that were killed: they would be in progress for ever. Returns their number."""
    unfinished = dg.RunsFilter(
        statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED],
        tags={_HOST: socket.gethostname()},
    )
    lost = [run for run in instance.get_runs(unfinished) if not _is_alive(int(run.tags[_PID]))]
    for run in lost:
        instance.report_run_failed(run, "its process was killed")
    return len(lost)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is somebody else's, but it is there
    return True
