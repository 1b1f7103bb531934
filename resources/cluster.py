"""Where the gates' work runs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

import dagster as dg
from pydantic import Field
from tqdm import tqdm

from sbench_dag.cluster.alone import Alone
from sbench_dag.cluster.base import Cluster
from sbench_dag.cluster.config import KINDS, LocalSettings, load_cluster_config
from sbench_dag.cluster.local import LocalCluster
from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.errors import SetupError
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line


class LocalConfig(LocalSettings, dg.Config):
    """The library's settings as Dagster's configuration."""


class SlurmConfig(SlurmSettings, dg.Config):
    """The library's settings as Dagster's configuration."""


class ClusterResource(dg.ConfigurableResource):
    """Runs work items in processes of this machine, or as job arrays of a Slurm cluster."""

    kind: str = Field(default="local", description="local: processes of this machine. slurm: a cluster's job arrays.")
    local: LocalConfig = Field(default=LocalConfig(), description="How it runs on this machine.")
    slurm: SlurmConfig = Field(default=SlurmConfig(), description="How it runs on Slurm; docs/slurm.md.")
    progress: bool = Field(default=False, description="Whether to draw a progress bar on the terminal.")

    @classmethod
    def configured(cls, kind: str = "", workers: int = 0, progress: bool = False) -> ClusterResource:
        """As cluster.toml and the environment say, unless an argument does. workers: on this machine."""
        found = load_cluster_config()
        return cls(
            kind=kind or found.kind,
            local=LocalConfig(workers=workers or found.local.workers, timeout_s=found.local.timeout_s),
            slurm=SlurmConfig(**found.slurm.model_dump()),
            progress=progress,
        )

    def cluster(self, is_cancelled: Callable[[], bool]) -> Cluster:
        if self.kind == "slurm":
            return SlurmCluster(self.slurm, is_cancelled)
        if self.kind == "local":
            return Alone(LocalCluster(self.local.workers, self.local.timeout_s))
        raise SetupError(f"cluster.kind = {self.kind!r}: there are {' and '.join(KINDS)}")

    def run(
        self, study: Path, gate: str, tasks: Sequence[Task], is_cancelled: Callable[[], bool] = lambda: True
    ) -> Generator[Line | None, None, None]:
        """Yields each task's stored line as it finishes, and None now and then while nothing does.

        Closing the generator stops what runs on this machine; jobs on a cluster only if the run is cancelled.
        """
        bar = tqdm(desc=gate, total=len(tasks), unit="item", disable=not self.progress)
        with closing(self.cluster(is_cancelled).run(study, gate, tasks)) as lines, bar:
            for line in lines:
                bar.update(line is not None)
                yield line
