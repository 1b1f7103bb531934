"""Worker processes on this machine. One that crashes or hangs costs the item that it was working on."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures import wait
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pebble import ProcessExpired, ProcessPool

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import load_study
from sbench_dag.work.item import Result, Task
from sbench_dag.work.store import Line, Segment, Store

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from sbench_dag.worker import Worker

CRASHES_UNTIL_INVALID = 2


def _nobody_asks(task: Task) -> None:
    pass


@dataclass(frozen=True)
class LocalCluster:
    """workers: processes; 0 means one per core. timeout_s: seconds that one item may take, unless it may take more.

    began: called, by several threads, with each task that a worker is about to begin.
    """

    workers: int = 0
    timeout_s: float = 600.0
    began: Callable[[Task], None] = _nobody_asks

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line, None, None]:
        groups = [list(group) for _, group in itertools.groupby(tasks, key=lambda task: task.item.group)]
        waiting: queue.SimpleQueue[list[Task]] = queue.SimpleQueue()
        for group in groups:
            waiting.put(group)
        finished: queue.SimpleQueue[Line | BaseException] = queue.SimpleQueue()
        store = Store(load_study(study).results)
        count = min(self.workers or os.cpu_count() or 1, len(groups))
        lanes = [
            _Lane(study, gate, self.timeout_s, self.began, waiting, finished, store.segment(gate)) for _ in range(count)
        ]
        for lane in lanes:
            lane.start()
        try:
            for _ in tasks:
                outcome = finished.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
        finally:
            for lane in lanes:
                lane.stop()


class _Stopped(Exception):
    """The run was closed while a lane was waiting."""


@dataclass
class _Lane:
    """One worker process and the thread that feeds it: whole groups, so that a scene is built once."""

    study: Path
    gate: str
    timeout_s: float
    began: Callable[[Task], None]
    waiting: queue.SimpleQueue[list[Task]]
    finished: queue.SimpleQueue[Line | BaseException]
    failures: Segment
    stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        # spawn: a fork of a process with threads and an OpenGL context is not safe
        self.pool = ProcessPool(max_workers=1, context=multiprocessing.get_context("spawn"))
        self.thread = threading.Thread(target=self._feed, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self.pool.stop()
        self.thread.join()
        self.pool.join()
        self.failures.close()

    def _feed(self) -> None:
        try:
            while not self.stopped.is_set():
                tasks = self.waiting.get_nowait()
                batch = tasks[0].item.batch
                for first in range(0, len(tasks), batch):
                    for line in self._run(tasks[first : first + batch]):
                        self.finished.put(line)
        except (queue.Empty, _Stopped):
            return
        except BaseException as error:
            self.finished.put(error)

    def _run(self, tasks: Sequence[Task]) -> list[Line]:
        """A batch in which something kills its worker, or hangs, is run again one by one."""
        code = None
        for task in tasks:
            self.began(task)
        for _ in range(CRASHES_UNTIL_INVALID):
            try:
                allowed_s = sum(self._allowed_s(task) for task in tasks)
                future = self.pool.schedule(_run, args=(self.study, self.gate, tasks), timeout=allowed_s)
                # a stopped pool leaves its futures unfinished for ever, so nobody must wait for them alone
                while not wait([future], timeout=0.5).done:
                    if self.stopped.is_set():
                        raise _Stopped
                return future.result()
            except (FutureTimeoutError, ProcessExpired) as end:
                if len(tasks) > 1:
                    return self._run_each(tasks)
                if isinstance(end, FutureTimeoutError):
                    return [
                        self._failed(tasks[0], Reason.TIMED_OUT, f"no result within {self._allowed_s(tasks[0]):g} s")
                    ]
                code = end.exitcode
        text = f"killed its worker {CRASHES_UNTIL_INVALID} times (exit code {code})"
        return [self._failed(tasks[0], Reason.WORKER_CRASHED, text)]

    def _allowed_s(self, task: Task) -> float:
        return max(self.timeout_s, task.item.timeout_s)

    def _run_each(self, tasks: Sequence[Task]) -> list[Line]:
        """Those of a batch that ended before its time; some may have their lines."""
        wanted = {task.item.key: task.fingerprint for task in tasks}
        found = Store(load_study(self.study).results).results(self.gate, wanted)
        left = [task for task in tasks if task.item.key not in found]
        return [*found.values(), *(line for task in left for line in self._run([task]))]

    def _failed(self, task: Task, reason: Reason, text: str) -> Line:
        return self.failures.append(task.item.key, task.fingerprint, Result(Outcome.INVALID, reason, text))


def _run(study: Path, gate: str, tasks: Sequence[Task]) -> list[Line]:
    return _worker(study, gate).run_batch(tasks)


@lru_cache(maxsize=1)
def _worker(study: Path, gate: str) -> Worker:
    """The process's worker: it lives as long as the process does."""
    from sbench_dag.worker import Worker  # MuJoCo and all that: only the process that simulates needs it

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return Worker(study, gate)


def _end_with(parent: BaseProcess) -> None:
    """Ends this process at once when its parent is killed: by then another run may be at the same items."""
    parent.join()
    os._exit(1)
