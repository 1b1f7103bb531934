"""Which partitions need a run: what the scan of the store finds, against what Dagster remembers of each partition.

Level-triggered: it asks what is, not what has happened, so that no update is ever lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dagster as dg
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from assets.in_flight import open_runs
from assets.provenance import last_version, last_versions
from assets.scope import Scope
from sbench_dag.gate import Keys
from sbench_dag.pipeline import find_gate
from sbench_dag.stale import REPORT, SUMMARY, Item, Scan, State


@dataclass(frozen=True)
class Staleness:
    """The partitions of a step, in `order`.

    stale: their inputs have changed, or nothing has been run, or Dagster has not been told of the result.
    invalid: what is wanted today has been tried, and has no result.
    failed: invalid, or Dagster shows them as failed for another reason: a run was lost, or stopped by a gate.
    running: a run that has not ended is to materialise them.
    harmless: they have today's result, so that a run only logs it again.
    """

    order: Sequence[str]
    stale: frozenset[str]
    invalid: frozenset[str]
    failed: frozenset[str]
    running: frozenset[str]
    harmless: frozenset[str]


def staleness(instance: dg.DagsterInstance, scope: Scope, scan: Scan, step: str) -> Staleness:
    """Of one step. A partition that the scope does not have yet, or no longer, is left out: it needs a reload."""
    items = scan.steps[step]
    if step == SUMMARY:
        return _of_summary(instance, scope, items[""])
    keys = keys_of(step)
    order = [key for key in scope.partitions.keys[keys] if key in items]
    have = last_versions(instance, scope.key(step))
    shows_failed, running = _statuses(instance, scope.key(step), scope.partitions.definitions[keys])
    invalid = frozenset(key for key in order if items[key].state is State.FAILED)
    harmless = frozenset(key for key in order if items[key].state is State.FRESH)
    told = frozenset(key for key in harmless if have.get(key) == items[key].version) - shows_failed
    everything = frozenset(order)
    failed = invalid | (shows_failed & everything)
    return Staleness(order, everything - invalid - told, invalid, failed, running, harmless)


def ready(scan: Scan, step: str) -> frozenset[str]:
    """The partitions of a step whose earlier gates have results. A page shows whatever there is."""
    return _after(scan, step, frozenset({State.FRESH}))


def startable(scan: Scan, step: str) -> frozenset[str]:
    """Those whose earlier gates are through, with a result or without: what is invalid there is invalid here too."""
    return _after(scan, step, frozenset({State.FRESH, State.FAILED}))


def _after(scan: Scan, step: str, states: frozenset[State]) -> frozenset[str]:
    if step in (REPORT, SUMMARY):
        return frozenset(scan.steps[step])
    gate = find_gate(step)
    return frozenset(key for key in scan.steps[step] if scan.before(gate, key) <= states)


def keys_of(step: str) -> Keys:
    return Keys.EPISODE if step == REPORT else find_gate(step).keys


def _of_summary(instance: dg.DagsterInstance, scope: Scope, item: Item) -> Staleness:
    told = item.state is State.FRESH and last_version(instance, scope.key(SUMMARY)) == item.version
    running = any(scope.key(SUMMARY) in (run.asset_selection or ()) for run in open_runs(instance, scope))
    one = frozenset({""})
    none: frozenset[str] = frozenset()
    stale = none if told else one
    return Staleness(("",), stale, none, none, one if running else none, one - stale)


def _statuses(
    instance: dg.DagsterInstance, asset: dg.AssetKey, definition: dg.StaticPartitionsDefinition
) -> tuple[frozenset[str], frozenset[str]]:
    """The partitions that show FAILED, and those in progress."""
    status = get_and_update_asset_status_cache_value(instance, asset, definition)
    if status is None:
        return frozenset(), frozenset()
    failed = status.deserialize_failed_partition_subsets(definition)
    running = status.deserialize_in_progress_partition_subsets(definition)
    return frozenset(failed.get_partition_keys()), frozenset(running.get_partition_keys())
