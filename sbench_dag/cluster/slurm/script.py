"""The batch script of an array: to be read, and submitted again by hand if need be."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from sbench_dag.cluster.slurm.job import Job
from sbench_dag.cluster.slurm.settings import SlurmSettings


def job_script(job: Job, count: int, settings: SlurmSettings) -> str:
    """`exec`, so that Slurm's signals reach the worker and no shell in between."""
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
    }
    lines = [f"--{name}={_quoted(str(value))}" for name, value in options.items() if str(value)]
    python = settings.python or sys.executable
    worker = shlex.join([python, "-m", "sbench_dag.cluster.slurm.task", str(job.folder)])
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {line}" for line in [*lines, "--requeue", *settings.options]),
            *settings.setup,
            f"exec {settings.container} {worker}" if settings.container else f"exec {worker}",
            "",
        ]
    )


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text
