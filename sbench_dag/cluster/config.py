"""Where work runs, unless a command says otherwise: `$SBENCH_HOME/cluster.toml` and `$SBENCH_CLUSTER`."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.errors import InputError, SetupError
from sbench_dag.study import home

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
    config = _read(file) if file.exists() else ClusterConfig()
    kind = os.environ.get("SBENCH_CLUSTER") or config.kind
    if kind not in KINDS:
        raise SetupError(f"SBENCH_CLUSTER = {kind!r}: there are {' and '.join(KINDS)}")
    return config.model_copy(update={"kind": kind})


def _read(file: Path) -> ClusterConfig:
    try:
        return ClusterConfig.model_validate(tomllib.loads(file.read_text()), strict=True)
    except tomllib.TOMLDecodeError as error:
        raise InputError(file, "toml", str(error), "not valid TOML") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(file, ".".join(map(str, first["loc"])), first["input"], first["msg"]) from None
