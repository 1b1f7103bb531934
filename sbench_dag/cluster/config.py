"""Where work runs, unless a command says otherwise: `$SBENCH_HOME/cluster.toml` and `$SBENCH_CLUSTER`."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.errors import SetupError
from sbench_dag.study import home
from sbench_dag.toml import read_toml

KINDS = ("local", "slurm")


class LocalSettings(BaseModel):
    """Worker processes on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workers: int = Field(default=0, ge=0, description="Worker processes; 0 means one per core.")
    timeout_s: float = Field(default=600.0, gt=0, description="Seconds that one item may take before it is stopped.")


class ClusterConfig(BaseModel):
    """kind: which of the two is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["local", "slurm"] = "local"
    local: LocalSettings = LocalSettings()
    slurm: SlurmSettings = SlurmSettings()


def load_cluster_config() -> ClusterConfig:
    """
    Raises:
        InputError: cluster.toml has a field that does not exist, or a wrong value.
        SetupError: $SBENCH_CLUSTER names no kind of cluster.
    """
    file = home() / "cluster.toml"
    config = read_toml(file, ClusterConfig) if file.exists() else ClusterConfig()
    kind = os.environ.get("SBENCH_CLUSTER") or config.kind
    if kind not in KINDS:
        raise SetupError(f"SBENCH_CLUSTER = {kind!r}: there are {' and '.join(KINDS)}")
    return config.model_copy(update={"kind": kind})
