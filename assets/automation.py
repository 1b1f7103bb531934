"""What runs by itself: sensors and schedules, over all studies that could be loaded."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets.failure_hook import failure_hook
from assets.lost_runs import lost_runs
from assets.new_data import new_data
from assets.operations import Operations
from assets.scope import Scope
from assets.stale_plans import stale_plans


def sensors(scopes: Sequence[Scope], operations: Operations) -> list[dg.SensorDefinition]:
    return [
        new_data(scopes, operations.new_data),
        *([stale_plans(scopes, operations.stale)] if scopes else []),
        failure_hook(scopes, operations.notify),
        lost_runs(),
    ]


def schedules(scopes: Sequence[Scope], operations: Operations) -> list[dg.ScheduleDefinition]:
    return []


def jobs(scopes: Sequence[Scope]) -> list[dg.JobDefinition]:
    return []
