"""What our client adds to Slurm: `python -m benchmarks.slurm`, on the cluster that $SLURM_CONF names (make slurm-up).

A plain array is the very script that we submit, submitted by hand and watched with squeue.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.cluster.slurm.job import Piece, create_job, intend
from sbench_dag.cluster.slurm.script import job_options, job_script
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.pipeline import Fingerprints, find_gate, items
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.make import make_dataset
from sbench_dag.work.item import Task, WorkItem
from sbench_dag.worker import Worker

SINGLE = SlurmSettings(shard_minutes=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=100, help="of the mini benchmark's Stage B, in shards of one")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ["SBENCH_HOME"] = str(home)
        make_dataset(home / "datasets" / "mini", "mini")
        for number in range(arguments.rounds):
            _round(home, number, arguments.plans)
        for count, settings in ((1500, SlurmSettings()), (1500, SINGLE)):
            seconds, tasks = _submission(_study(home, "held"), count, settings)
            print(f"{count} plans in {tasks} array tasks: submitted after {seconds:.2f} s")


def _round(home: Path, number: int, count: int) -> None:
    plain = _plain(_study(home, f"plain{number}"), count)
    calls = _count_calls(home / f"bin{number}")
    ours = _ours(_study(home, f"ours{number}"), count)
    asked = len(calls.read_text().split())
    print(
        f"{count} plans in shards of one: plain array {plain:.1f} s, ours {ours:.1f} s, ratio {ours / plain:.2f}; "
        f"{asked} squeue calls, one every {ours / asked:.1f} s"
    )


def _study(home: Path, name: str) -> Study:
    """The mini benchmark with G0 done and Stage B to do."""
    study = create_study(name, home / "datasets" / "mini", {"video": {"enabled": False}})
    worker = Worker(study.folder, "g0_spike")
    for task in _tasks(study, "g0_spike"):
        worker.run(task)
    return study


def _tasks(study: Study, gate: str) -> list[Task]:
    fingerprints = Fingerprints(study)
    return [Task(item, fingerprints.of(gate, item.key)) for item in items(study, find_gate(gate))]


def _plain(study: Study, count: int) -> float:
    """Seconds from sbatch until squeue is empty."""
    tasks = _tasks(study, "stage_b")[:count]
    study.jobs.mkdir()
    job = create_job(study.jobs, "stage_b", [[Piece(task)] for task in tasks])
    script = job_script(job, SINGLE, job_options(job, count, SINGLE))
    intend(job, script, gate="stage_b", shards=count, workers=1, timeout_s=600.0)
    started = time.perf_counter()
    subprocess.run(["sbatch", job.script], check=True, capture_output=True)
    while subprocess.run(["squeue", "--me", "-h"], check=True, capture_output=True).stdout:
        time.sleep(0.2)
    return time.perf_counter() - started


def _ours(study: Study, count: int) -> float:
    """Seconds until the last line has come."""
    started = time.perf_counter()
    run = SlurmCluster(SINGLE).run(study.folder, "stage_b", _tasks(study, "stage_b")[:count])
    lines = [line for line in run if line is not None]
    assert len(lines) == count
    assert all(line.outcome.is_result for line in lines)
    return time.perf_counter() - started


def _count_calls(folder: Path) -> Path:
    """From here on each call of squeue adds a word to the file that is returned."""
    real = shutil.which("squeue")
    folder.mkdir()
    calls = folder / "calls"
    stub = folder / "squeue"
    stub.write_text(f'#!/bin/sh\necho call >> {calls}\nexec {real} "$@"\n')
    stub.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    return calls


class _Submitted(Exception):
    """The array has its id."""


class _StopThere(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if "submitted" in record.getMessage():
            raise _Submitted


def _submission(study: Study, count: int, settings: SlurmSettings) -> tuple[float, int]:
    """Seconds from the call until Slurm has taken tasks that will never begin, and the array's size."""
    tasks = [Task(WorkItem(f"plan{i:04}", f"episode{i // 30}", 20.0), f"{i:016x}") for i in range(count)]
    held = settings.model_copy(update={"options": ["--hold"]})
    log, handler = logging.getLogger("sbench_dag"), _StopThere()
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    started, size = time.perf_counter(), 0
    with suppress(_Submitted):
        for _ in SlurmCluster(held).run(study.folder, "stage_c", tasks):
            pass
    seconds = time.perf_counter() - started
    log.removeHandler(handler)
    [script] = study.jobs.glob("*stage-c*/job.json")
    size = len(list((script.parent / "shards").iterdir()))
    subprocess.run(["scancel", "--me"], check=True)
    shutil.rmtree(study.jobs)
    return seconds, size


if __name__ == "__main__":
    main()
