"""One run at a time over a gate of a study: two that overlap would compute everything twice."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sbench_dag.cluster.base import Cluster
from sbench_dag.files import lock
from sbench_dag.outcomes import Outcome
from sbench_dag.study import load_study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line, Store, Tail

log = logging.getLogger(__name__)

LOOK_S = 0.5


@dataclass(frozen=True)
class Alone:
    """Lets `cluster` run once no other run is at the same gate of the study, in whatever process.

    While it waits it hands on what the other stores, and afterwards runs only what is still missing. An item that
    became invalid meanwhile is not tried again at once; one that had been so before is.
    """

    cluster: Cluster

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line | None, None, None]:
        """
        Raises:
            SetupError: the file system has no locks.
        """
        if not tasks:
            return
        found = load_study(study)
        store = Store(found.results)
        others = _Others(store, gate, tasks)
        yield from others.results()
        found.locks.mkdir(exist_ok=True)
        with (found.locks / gate).open("a+") as file:
            is_told = False
            while not lock(file, wait=False):
                if not is_told:
                    log.warning(f"{gate}: {_read(file)} is at this gate of {found.name}; waiting for it")
                    is_told = True
                yield None
                time.sleep(LOOK_S)
                yield from others.lines()
                if not others.left:
                    return
            _sign(file)
            store.refresh(gate)
            yield from others.lines()
            with closing(self.cluster.run(study, gate, others.left)) as lines:
                yield from lines


def _sign(file: IO[str]) -> None:
    """Says to those who wait who has the lock."""
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read() or "another process"


class _Others:
    """What other runs store of the tasks. left: those of which they have stored nothing."""

    def __init__(self, store: Store, gate: str, tasks: Sequence[Task]):
        self._tail = Tail(store, gate)
        self._left = {task.item.key: task for task in tasks}

    @property
    def left(self) -> list[Task]:
        return list(self._left.values())

    def results(self) -> Iterator[Line]:
        """The first look: only results count, because what is invalid by now is to be tried again."""
        return self._lines(lambda outcome: outcome.is_result)

    def lines(self) -> Iterator[Line]:
        """What has come since the last look, with what others have just found to be invalid."""
        return self._lines(lambda outcome: outcome is not Outcome.NOT_RUN)

    def _lines(self, counts: Callable[[Outcome], bool]) -> Iterator[Line]:
        for line in self._tail.new():
            task = self._left.get(line.key)
            if task and task.fingerprint == line.fingerprint and counts(line.outcome):
                del self._left[line.key]
                yield line
