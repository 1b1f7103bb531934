"""Runs that a job starts in its own process: whoever terminates the job means them too."""

from __future__ import annotations

import dagster as dg

STARTED_BY = "sbench/started_by"
_ENDING = (dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED)


def is_cancelled(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether somebody terminates this run or the one that started it. Its process also gets signals when the UI or
    the daemon restarts.
    """
    run = instance.get_run_by_id(run_id)
    if run is None:
        return False
    above = run.tags.get(STARTED_BY)
    return run.status in _ENDING or (above is not None and is_cancelled(instance, above))
