"""Which partitions have to be run: their wanted versions against the last ones, all of them in a few queries.

Level-triggered: it asks what is, not what has happened, so that no update is ever lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dagster as dg
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from assets.provenance import last_version, last_versions
from assets.scope import REPORT, Scope
from sbench_dag.gate import Gate, Keys
from sbench_dag.pipeline import Fingerprints
from sbench_dag.reports.grid import Results
from sbench_dag.reports.page import episode_version, summary_version
from sbench_dag.work.store import Store, missing


@dataclass(frozen=True)
class Staleness:
    """stale: the partitions that need a run. harmless: those that have a result, so that a run only logs it again."""

    order: Sequence[str]
    stale: frozenset[str]
    harmless: frozenset[str]


def stale_items(instance: dg.DagsterInstance, scope: Scope, gate: Gate) -> Staleness:
    """Those whose last event is not of today's fingerprint, or that have no result, or that show FAILED."""
    order = scope.partitions.keys[gate.keys]
    wanted = Fingerprints(scope.study).wanted(gate, order)
    without = frozenset(missing(order, Store(scope.study.results).results(gate.name, wanted)))
    return _compare(instance, scope, gate.name, gate.keys, wanted, without)


def stale_pages(instance: dg.DagsterInstance, scope: Scope) -> Staleness:
    results = Results(scope.study)
    wanted = {episode: episode_version(results, episode) for episode in scope.partitions.keys[Keys.EPISODE]}
    pages = scope.study.reports / "episodes"
    without = frozenset(episode for episode in wanted if not (pages / f"{episode}.html").exists())
    return _compare(instance, scope, REPORT, Keys.EPISODE, wanted, without)


def summary_is_stale(instance: dg.DagsterInstance, scope: Scope, key: dg.AssetKey) -> bool:
    page = scope.study.reports / "index.html"
    return not page.exists() or last_version(instance, key) != summary_version(Results(scope.study))


def _compare(
    instance: dg.DagsterInstance,
    scope: Scope,
    name: str,
    keys: Keys,
    wanted: Mapping[str, str],
    without: frozenset[str],
) -> Staleness:
    have = last_versions(instance, scope.key(name))
    failed = _failed(instance, scope.key(name), scope.partitions.definitions[keys])
    stale = frozenset(k for k, version in wanted.items() if have.get(k) != version or k in without or k in failed)
    return Staleness(tuple(wanted), stale, frozenset(wanted) - without)


def _failed(
    instance: dg.DagsterInstance, asset: dg.AssetKey, definition: dg.StaticPartitionsDefinition
) -> frozenset[str]:
    status = get_and_update_asset_status_cache_value(instance, asset, definition)
    return (
        frozenset(status.deserialize_failed_partition_subsets(definition).get_partition_keys())
        if status
        else frozenset()
    )
