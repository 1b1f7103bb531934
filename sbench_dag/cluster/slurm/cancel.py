"""Cancelling jobs for good."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from sbench_dag.cluster.slurm.client import Client, UnreachableError, is_over
from sbench_dag.cluster.slurm.job import Job
from sbench_dag.errors import SetupError

log = logging.getLogger(__name__)

LOOK_S = 1.0


def cancel_jobs(jobs: Sequence[Job], client: Client, why: str = "cancelled", patience_s: float = 120.0) -> None:
    """Cancels jobs by name and waits until they are gone. Their tasks that would begin meanwhile do not.

    Raises:
        SetupError: Slurm does not answer, or they do not end. They are open again, so that the next run finds them.
    """
    names = [job.name for job in jobs]
    for job in jobs:
        job.close(why)
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            client.cancel(*names)
            if all(map(is_over, client.queue(names).values())):
                return
        except UnreachableError as error:
            log.warning(f"Slurm does not answer ({error}); trying to cancel again")
        time.sleep(LOOK_S)
    for job in jobs:
        job.reopen()
    raise SetupError(f"could not cancel {', '.join(names)} within {patience_s:g} s; please look with squeue")
