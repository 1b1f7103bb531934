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
    return ", ".join(
        [
            *(f"backfill {backfill}" for backfill in open_backfills(instance, scope)),
            *(f"run {run.run_id}" for run in open_runs(instance, scope)),
        ]
    )


def open_backfills(instance: dg.DagsterInstance, scope: Scope) -> list[str]:
    """Their ids."""
    found = instance.get_backfills(filters=BulkActionsFilter(statuses=_OPEN))
    return [backfill.backfill_id for backfill in found if _touches(backfill.asset_selection, scope)]


def open_runs(instance: dg.DagsterInstance, scope: Scope) -> list[dg.DagsterRun]:
    found = instance.get_runs(dg.RunsFilter(statuses=NOT_FINISHED_STATUSES))
    return [run for run in found if _touches(run.asset_selection, scope)]


def _touches(assets: Iterable[dg.AssetKey] | None, scope: Scope) -> bool:
    return assets is None or any(asset.path[0] == scope.study.name for asset in assets)
