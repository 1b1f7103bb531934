"""A real Slurm for a test, started by scripts/slurm-sandbox, and what can be done to it."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.cluster.slurm.job import Job, open_jobs
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.study import Study
from sbench_dag.work.store import Line
from tests.running import tasks_of

SCRIPT = Path(__file__).parents[1] / "scripts" / "slurm-sandbox"
FAST = SlurmSettings(poll_s=0.5, grace_s=1.0)


class Sandbox:
    """One virtual cluster of 4 nodes."""

    def __init__(self, folder: Path):
        self.folder = folder

    def call(self, *command: str) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def pid(self, daemon: str) -> int:
        return int((self.folder / "pid" / daemon).read_text())

    def up(self) -> None:
        """Starts again what was killed."""
        subprocess.run([SCRIPT, "up", "--dir", self.folder], check=True, capture_output=True)

    def kill(self, daemon: str) -> None:
        os.kill(self.pid(daemon), signal.SIGKILL)

    def tasks(self, states: str = "all") -> dict[str, str]:
        """State by id of every array task."""
        lines = self.call("squeue", "-h", "-r", "-t", states, "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    def running(self) -> list[str]:
        return sorted(self.tasks("R"))

    def release(self) -> None:
        """Whatever Slurm holds back for two minutes after a requeue may begin now."""
        for task in self.tasks("PD"):
            subprocess.run(["scontrol", "update", f"jobid={task}", "StartTime=now"], capture_output=True)


@contextmanager
def sandbox(*options: str) -> Iterator[Sandbox]:
    """Boots a cluster and points this process's Slurm commands at it. Its paths must be short: sockets lie there."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    try:
        up = subprocess.run([SCRIPT, "up", "--dir", folder, *options], capture_output=True, text=True)
        if up.returncode:
            pytest.skip(f"no Slurm sandbox: {up.stderr.strip()}")
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith(("SLURM", "SBATCH", "SQUEUE"))]:
                patch.delenv(name)
            patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
            yield Sandbox(folder)
    finally:
        subprocess.run([SCRIPT, "down", "--wipe", "--dir", folder], check=True)
        shutil.rmtree(folder, ignore_errors=True)


class Run:
    """SlurmCluster.run of what a gate of a study misses, in a thread, so that the test can interfere."""

    def __init__(self, study: Study, gate: str = "stage_c", settings: SlurmSettings = FAST):
        self.study, self.gate = study, gate
        self.lines: list[Line] = []
        self.tasks = tasks_of(study, gate)
        self._cluster = SlurmCluster(settings)
        self._end: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        try:
            for line in self._cluster.run(self.study.folder, self.gate, self.tasks):
                if line is not None:
                    self.lines.append(line)
            self._end.put(None)
        except BaseException as error:
            self._end.put(error)

    def wait(self, seconds: float = 120) -> list[Line]:
        """The lines, when all is over; raises what the run raised."""
        error = self._end.get(timeout=seconds)
        if error is not None:
            raise error
        return self.lines

    @property
    def jobs(self) -> list[Job]:
        return open_jobs(self.study.jobs, self.gate)


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.1)
