"""What runs in an array task: `python -m sbench_dag.cluster.slurm.task JOB`, the shard of $SLURM_ARRAY_TASK_ID.

It skips what has a result, and does the rest in worker processes of its own, so that an item that crashes or hangs
costs itself alone. Asked by SIGUSR1 (the time limit is near) or SIGTERM, it drops what it is at and ends cleanly.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sbench_dag.cluster.local import LocalCluster
from sbench_dag.cluster.slurm.job import Attempt, Job
from sbench_dag.errors import SetupError
from sbench_dag.study import load_study
from sbench_dag.work.item import Task
from sbench_dag.work.origin import slurm_task
from sbench_dag.work.store import Store, missing


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sbench_dag.cluster.slurm.task", description=__doc__)
    parser.add_argument("job", type=Path, help="the job's folder, <study>/jobs/<name>")
    job = Job(parser.parse_args(argv).job)
    where = slurm_task()
    index = where["task"]
    if job.is_given_up(index) or not job.is_of(where["id"].split("_")[0]):
        print(f"task {index} of {where['id']} has nothing to do: its items are elsewhere, or were cancelled")
        return 0
    for kind in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(kind, _stop)
    diary = _Diary(job, index, Attempt(where["id"], where["node"], where["restart"], time.time()))
    try:
        _run(job, index, diary)
        diary.end("done")
    except _Stopped as stop:
        diary.end("stopped")
        print(f"stopped by {stop}: what is done is stored, the rest will be submitted again", flush=True)
    except SetupError as error:
        diary.end(f"failed: {error}")
        print(error, file=sys.stderr)
        return 2
    except Exception as error:
        diary.end(f"failed: {type(error).__name__}: {error}")
        raise
    return 0


def _run(job: Job, index: int, diary: _Diary) -> None:
    tasks = [piece.task for piece in job.shard(index)]
    study = load_study(job.study)
    wanted = {task.item.key: task.fingerprint for task in tasks}
    store = Store(study.results)
    store.refresh(job.gate)
    left = set(missing(wanted, store.results(job.gate, wanted)))
    todo = [task for task in tasks if task.item.key in left]
    cluster = LocalCluster(job.intent["workers"], job.intent["timeout_s"], diary.began)
    with closing(cluster.run(study.folder, job.gate, todo)) as lines:
        for number, line in enumerate(lines, 1):
            diary.finished(line.key)
            why = f" ({line.result.reason})" if line.result.reason else ""
            print(f"{number}/{len(todo)} {line.key}: {line.outcome}{why}", flush=True)


class _Stopped(BaseException):
    """Somebody asked this process to end."""


def _stop(number: int, frame: object) -> None:
    for kind in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(kind, signal.SIG_IGN)  # once is enough: what follows must not be cut short
    raise _Stopped(signal.Signals(number).name)


class _Diary:
    """Keeps the attempt's file up to date, so that whoever finds this process dead knows what it was at."""

    def __init__(self, job: Job, index: int, attempt: Attempt):
        self._job, self._index, self._attempt = job, index, attempt
        self._lock = threading.Lock()  # each worker process has a thread that calls `began`
        self._set()

    def began(self, task: Task) -> None:
        with self._lock:
            self._set(running=(*self._attempt.running, task.item.key))

    def finished(self, key: str) -> None:
        with self._lock:
            self._set(running=tuple(k for k in self._attempt.running if k != key))

    def end(self, how: str) -> None:
        with self._lock:
            self._set(ended=time.time(), end=how)

    def _set(self, **changes: Any) -> None:
        self._attempt = replace(self._attempt, **changes)
        self._job.note(self._index, self._attempt)


if __name__ == "__main__":
    raise SystemExit(main())
