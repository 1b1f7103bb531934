"""The pool in which the gates that simulate run: each uses every core by itself."""

from __future__ import annotations

from dagster._core.storage.event_log.base import EventLogStorage

POOL = "gpu_sim"
SIMULATING = ("g0_spike", "stage_b", "stage_c")
_RUNS_AT_A_TIME = 1


def limit_pool(storage: EventLogStorage) -> None:
    """Gives the pool its limit, unless it has one.

    dagster.yaml's `default_limit` would do this too late: the daemon notes it while it launches the first runs, and
    launches all of them.
    """
    if POOL not in storage.get_concurrency_keys():
        storage.set_concurrency_slots(POOL, _RUNS_AT_A_TIME)
