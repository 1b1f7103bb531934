"""The protocol that hides where work happens."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Protocol

from sbench_dag.work.item import Task
from sbench_dag.work.store import Line


class Cluster(Protocol):
    """Runs tasks of one gate somewhere."""

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line | None, None, None]:
        """Yields the stored line of each task as it finishes, in any order, exactly one per task.

        A task that kills or outlives its worker yields an `invalid` line like any other. None may come at any time, so
        that the caller gets to do what must not wait for the next line. Closing the generator stops what runs on this
        machine; jobs elsewhere may go on. What is stored stays.
        """
        ...
