"""Which task of a cluster's job this process belongs to, and what it needed so far."""

from __future__ import annotations

import os
import resource
from typing import Any


def origin() -> dict[str, Any]:
    """`max_rss_mib`, the process's peak until now, and in a Slurm job what `slurm_task` says."""
    peak = {"max_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}
    return {**slurm_task(), **peak}


def slurm_task() -> dict[str, Any]:
    """The array task that this process runs in, empty outside of one: `job`, `task`, `id`, `node`, `restart`.

    job: its name. task: its index in the array. id: `473_5`. restart: how often Slurm has put it back into its queue.
    """
    variables = os.environ
    if "SLURM_ARRAY_TASK_ID" not in variables:
        return {}
    return {
        "job": variables["SLURM_JOB_NAME"],
        "task": int(variables["SLURM_ARRAY_TASK_ID"]),
        "id": f"{variables['SLURM_ARRAY_JOB_ID']}_{variables['SLURM_ARRAY_TASK_ID']}",
        "node": variables.get("SLURMD_NODENAME", ""),
        "restart": int(variables.get("SLURM_RESTART_COUNT", 0)),
    }
