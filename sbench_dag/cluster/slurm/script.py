"""The batch script of an array: to be read by whoever wants to know what runs there."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from pathlib import Path

from sbench_dag.cluster.slurm.job import Job
from sbench_dag.cluster.slurm.settings import SlurmSettings


def job_options(job: Job, count: int, settings: SlurmSettings, bad_nodes: Collection[str] = ()) -> list[str]:
    """sbatch's options, as words."""
    options = {
        "job-name": job.name,
        "array": f"0-{count - 1}" + (f"%{settings.parallel}" if settings.parallel else ""),
        "output": job.folder / "logs" / "%a.log",
        "open-mode": "append",
        "chdir": Path.cwd(),
        "partition": settings.partition,
        "account": settings.account,
        "qos": settings.qos,
        "gres": settings.gres,
        "cpus-per-task": settings.cpus,
        "mem": settings.memory,
        "time": settings.time_limit,
        "signal": f"B:USR1@{settings.notice_s}" if settings.notice_s else "",
        "exclude": ",".join(sorted(bad_nodes)),
    }
    words = [f"--{name}={value}" for name, value in options.items() if str(value)]
    return [*words, "--requeue", *(word for text in settings.options for word in shlex.split(text))]


def job_script(job: Job, settings: SlurmSettings, options: Collection[str]) -> str:
    """`exec`, so that Slurm's signals reach the worker and no shell in between."""
    python = settings.python or sys.executable
    worker = shlex.join([python, "-m", "sbench_dag.cluster.slurm.task", str(job.folder)])
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {shlex.quote(option)}" for option in options),
            *(["set -e", *settings.setup] if settings.setup else []),
            f"exec {settings.container} {worker}" if settings.container else f"exec {worker}",
            "",
        ]
    )
