"""The Dagster instance that `python -m assets run` and the UI share."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef

from sbench_dag.study import home

CHECKOUT = Path(__file__).resolve().parents[1]
_HOST, _PID, _BORN = "sbench/host", "sbench/pid", "sbench/born"


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
    """Says of a run which process it is: no code server watches over it."""
    return {_HOST: socket.gethostname(), _PID: str(os.getpid()), _BORN: _born(os.getpid())}


def is_of_terminal(run: dg.DagsterRun) -> bool:
    """Whether a run says which process it is."""
    return _PID in run.tags


def is_lost(run: dg.DagsterRun) -> bool:
    """Whether the process that a terminal's run says it is has ended. One on another host can't be seen from here."""
    return run.tags[_HOST] == socket.gethostname() and not _is_alive(run.tags)


def fail_lost_runs(instance: dg.DagsterInstance) -> int:
    """Ends the runs of killed processes, as a daemon does where one runs (launcher.py). Returns their number."""
    unfinished = dg.RunsFilter(
        statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED],
        tags={_HOST: socket.gethostname()},
    )
    dead = [run for run in instance.get_runs(unfinished) if is_lost(run)]
    lost = [run for run in dead if _is_unfinished(instance, run)]
    for run in lost:
        instance.report_run_failed(run, "its process was killed")
    return len(lost)


def _is_unfinished(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Asked once its process is dead: it may have come to its end while we looked."""
    now = instance.get_run_by_id(run.run_id)
    return now is not None and not now.is_finished


def _is_alive(tags: Mapping[str, str]) -> bool:
    pid = int(tags[_PID])
    try:
        os.kill(pid, 0)
        return _born(pid) == tags.get(_BORN, _born(pid))  # else the number is another process's by now
    except (ProcessLookupError, FileNotFoundError):
        return False
    except PermissionError:
        return True  # it is somebody else's, but it is there


def _born(pid: int) -> str:
    """When a process began, in ticks since the machine did; a dead one that nobody has waited for has no such time."""
    state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return "" if state == "Z" else rest[18]
