"""What works on all studies that could be loaded: jobs, the nightly schedule and the sensors."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets.jobs import nightly_rescore, nightly_schedule, retry_failed
from assets.new_data import new_data
from assets.notifications.sensor import failure_hook
from assets.operations import Operations
from assets.scope import Scope
from assets.stale_plans import stale_plans


def sensors(scopes: Sequence[Scope], operations: Operations) -> list[dg.SensorDefinition]:
    return [
        new_data(scopes, operations.new_data),
        *([stale_plans(scopes, operations.stale)] if scopes else []),
        failure_hook(scopes, operations.notify),
    ]


def schedules(scopes: Sequence[Scope], operations: Operations) -> list[dg.ScheduleDefinition]:
    return [nightly_schedule(nightly_rescore(scopes), operations.nightly)]


def jobs(scopes: Sequence[Scope]) -> list[dg.JobDefinition]:
    return [retry_failed(scopes)]
