"""Dagster's own run launcher, which also knows whether the process of a run is still there.

Without that, a run that was in progress when the machine went down would be so for ever, and keep its place in the
pool. A process that can't be seen from here counts as alive. What is known of one is its id and when it said so, by a
clock that may have been set since: so an id that another process has by now is taken for the run's own, unless the
machine was booted in between, or that process began much later. Such a run stays in progress.
"""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
from dagster._core.launcher.base import CheckRunHealthResult, WorkerStatus
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import WILL_RETRY_TAG

from assets.instance import is_lost, is_of_terminal

_CLOCK_S = 2.0  # by how much the kernel's clock and that of an event may differ
_SET_S = 600.0  # by how much a clock may be put forward without a run that looks lost


class WatchedRunLauncher(DefaultRunLauncher):
    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        if self._is_lost(run):
            # Dagster says so only just after it has failed the run, and a backfill that looks in between gives it up
            self._instance.add_run_tags(run.run_id, {WILL_RETRY_TAG: "true"})
            return CheckRunHealthResult(WorkerStatus.FAILED, "its process is gone")
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def _is_lost(self, run: dg.DagsterRun) -> bool:
        """A terminal's run says exactly which process it is; of one that a daemon has launched its events tell."""
        if is_of_terminal(run):
            return is_lost(run)
        noted = self._process(run.run_id)
        return noted is not None and not _runs(*noted)

    def _process(self, run: str) -> tuple[int, float] | None:
        """The process that a run says it is, and when it said so."""
        for entry in reversed(self._instance.all_logs(run, of_type=dg.DagsterEventType.ENGINE_EVENT)):
            metadata = entry.get_dagster_event().engine_event_data.metadata
            if "pid" in metadata:
                return int(str(metadata["pid"].value)), entry.timestamp
        return None


def _runs(pid: int, at: float) -> bool:
    """Whether the process that had this id at a time (seconds since 1970) still runs, as far as can be told."""
    started, booted = _started(pid), _booted()
    if started is None or booted > at + _CLOCK_S:
        return False
    return booted + started <= at + _SET_S


def _started(pid: int) -> float | None:
    """When a process began, in seconds since the machine did; None if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state == "Z" else int(fields[18]) / os.sysconf("SC_CLK_TCK")


def _booted() -> float:
    """In seconds since 1970. It moves when the clock is set."""
    lines = Path("/proc/stat").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("btime")))
