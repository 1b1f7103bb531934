"""Dagster's own run launcher, which also knows whether the process of a run is still there.

Without that, a run that was in progress when the machine went down would be so for ever, and keep its place in the
pool. A run is called lost only where that is certain: a process that can't be seen from here counts as alive.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import dagster as dg
from dagster._core.launcher.base import CheckRunHealthResult, WorkerStatus
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher

from assets.instance import host_of

_CLOCK_S = 2.0  # by how much the kernel's clock and that of an event may differ


class WatchedRunLauncher(DefaultRunLauncher):
    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        noted = self._process(run.run_id)
        if noted is None or host_of(run) != socket.gethostname() or _runs(*noted):
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        return CheckRunHealthResult(WorkerStatus.FAILED, f"its process {noted[0]} is gone")

    def _process(self, run: str) -> tuple[int, float] | None:
        """The process that a run says it is, and when it said so."""
        for entry in reversed(self._instance.all_logs(run, of_type=dg.DagsterEventType.ENGINE_EVENT)):
            metadata = entry.get_dagster_event().engine_event_data.metadata
            if "pid" in metadata:
                return int(str(metadata["pid"].value)), entry.timestamp
        return None


def _runs(pid: int, at: float) -> bool:
    """Whether the process that had this id at a time (seconds since 1970) still runs."""
    try:
        _, fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, started = fields.split()[0], int(fields.split()[19]) / os.sysconf("SC_CLK_TCK")
    return state != "Z" and _booted() + started <= at + _CLOCK_S


def _booted() -> float:
    lines = Path("/proc/stat").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("btime")))
