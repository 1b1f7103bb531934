"""What a site says of its Slurm."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class SlurmSettings(BaseModel):
    """How tasks are submitted and watched. An empty text leaves the choice to Slurm."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    partition: str = Field(default="", description="sbatch --partition.")
    account: str = Field(default="", description="sbatch --account.")
    qos: str = Field(default="", description="sbatch --qos.")
    gres: str = Field(default="", description="sbatch --gres, for instance gpu:1.")
    cpus: int = Field(default=1, ge=1, description="sbatch --cpus-per-task.")
    memory: str = Field(default="", description="sbatch --mem, for instance 16G.")
    time_limit: str = Field(default="01:00:00", description="sbatch --time; several times shard_minutes.")
    parallel: int = Field(default=0, ge=0, description="Array tasks that may run at a time; 0: as many as Slurm lets.")
    options: list[str] = Field(default=[], description="More sbatch options, for instance --constraint=h200.")

    setup: list[str] = Field(default=[], description="Lines of bash before the worker, for instance module load cuda.")
    container: str = Field(
        default="",
        description="What the worker's command is put behind, for instance apptainer exec --nv sim.sif. "
        "It has to see the study's folder under the same path.",
    )
    python: str = Field(default="", description="The workers' Python; empty: the one that submits.")
    submit: list[str] = Field(
        default=["sbatch"],
        description="The submit command, word by word; options and script are put behind it. "
        "For a shell function of the site: bash, -c, '. FILE && NAME \"$@\"', _.",
    )

    workers: int = Field(default=1, ge=1, description="Worker processes in an array task; they share its GPU.")
    timeout_s: float = Field(default=600.0, gt=0, description="Seconds that one item may take before it is stopped.")
    shard_minutes: float = Field(default=20.0, gt=0, description="How long an array task is expected to run.")
    shards: int = Field(
        default=1000,
        ge=1,
        description="Array tasks at most, below the site's MaxArraySize; where that is not enough, they run longer.",
    )
    attempts: int = Field(
        default=3, ge=1, description="Submissions that give nothing at all before an item is invalid."
    )
    notice_s: int = Field(default=120, ge=0, description="Seconds before the time limit at which workers stop cleanly.")
    poll_s: float = Field(default=10.0, gt=0, description="Seconds between two squeue calls, one for all tasks.")
    grace_s: float = Field(
        default=75.0,
        ge=0,
        description="Seconds for which the results of a task that is over may still be on their way: NFS clients look "
        "again after up to 60.",
    )
