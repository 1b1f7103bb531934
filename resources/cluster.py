"""Where the gates' work runs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

import dagster as dg
from pydantic import Field
from tqdm import tqdm

from sbench_dag.cluster.base import Cluster
from sbench_dag.cluster.local import LocalCluster
from sbench_dag.work.store import Line
from sbench_dag.worker import Task


class ClusterResource(dg.ConfigurableResource):
    """Runs work items in processes of this machine."""

    workers: int = Field(default=0, description="Worker processes; 0 means one per core.")
    timeout_s: float = Field(default=600.0, description="Seconds that one item may take before it is stopped.")
    progress: bool = Field(default=False, description="Whether to draw a progress bar on the terminal.")

    def cluster(self) -> Cluster:
        return LocalCluster(self.workers, self.timeout_s)

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line, None, None]:
        """Yields each task's stored line as it finishes. Closing the generator stops what still runs."""
        with closing(self.cluster().run(study, gate, tasks)) as lines:
            yield from tqdm(lines, gate, total=len(tasks), unit="item", disable=not self.progress)
