"""What is being done with a study's partitions right now."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg
from dagster._core.execution.backfill import BulkActionsFilter, BulkActionStatus
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from assets.scope import Scope

_OPEN = [BulkActionStatus.REQUESTED, BulkActionStatus.CANCELING, BulkActionStatus.FAILING]


def in_flight(instance: dg.DagsterInstance, scope: Scope) -> str:
    """The backfills and runs of a study's assets that have not ended, as a text; empty if there are none.

    One whose assets are not known counts for every study.
    """
    backfills = [
        f"backfill {backfill.backfill_id}"
        for backfill in instance.get_backfills(filters=BulkActionsFilter(statuses=_OPEN))
        if _touches(backfill.asset_selection, scope)
    ]
    runs = [
        f"run {run.run_id}"
        for run in instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES))
        if _touches(run.asset_selection, scope)
    ]
    return ", ".join(backfills + runs)


def _touches(assets: Iterable[dg.AssetKey] | None, scope: Scope) -> bool:
    return assets is None or any(asset.path[0] == scope.study.name for asset in assets)
