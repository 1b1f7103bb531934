"""Runs of the past, put into Dagster's storage in bulk: as if every gate had been run over all partitions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import islice

import dagster as dg
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent, StepMaterializationData
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.utils import make_new_run_id
from sqlalchemy import select, text

from assets.code_version import code_version
from assets.partitions import Partitions
from assets.provenance import Input, Provenance
from assets.scope import Scope
from assets.staleness import keys_of
from sbench_dag.pipeline import GATES, Fingerprints, gates_before
from sbench_dag.stale import REPORT, SUMMARY, Scan

_JOB = "__ASSET_JOB"


def put_past_runs(instance: dg.DagsterInstance, scope: Scope, scan: Scan) -> None:
    """One successful run for each step, with an event for each partition that has the version of today."""
    fingerprints = Fingerprints(scan.study)
    for gate in GATES:
        inputs = [Input(scope.key(up.name), scope.partitions.upstream(up.keys, gate.keys)) for up in gates_before(gate)]
        provenance = Provenance(instance, code_version(fingerprints, gate.name), inputs)
        _put_run(instance, scope, scan, gate.name, provenance)
    _put_run(instance, scope, scan, REPORT, Provenance(instance, code_version(fingerprints, REPORT), []))
    provenance = Provenance(instance, "1", [])
    summary = dg.AssetMaterialization(scope.key(SUMMARY), tags=provenance.tags("", scan.steps[SUMMARY][""].version))
    _put(instance, _new_run(instance, scope.key(SUMMARY)), [summary])
    with _log(instance).index_transaction() as connection:
        connection.execute(text("ANALYZE"))


def _put_run(instance: dg.DagsterInstance, scope: Scope, scan: Scan, step: str, provenance: Provenance) -> None:
    partitions: Partitions = scope.partitions
    kind, items, asset = keys_of(step), scan.steps[step], scope.key(step)
    run = _new_run(instance, asset)
    definition = partitions.definitions[kind]
    subset = definition.subset_with_partition_keys(partitions.keys[kind])
    planned = AssetMaterializationPlannedData(asset, partitions_subset=subset)
    event = DagsterEvent.build_asset_materialization_planned_event(_JOB, step, planned)
    instance.report_dagster_event(event, run)
    version = {name: partitions.version(kind, name, lambda key: items[key].version) for name in partitions.keys[kind]}
    _put(instance, run, (_event(asset, name, provenance.tags(name, version[name])) for name in version))


def _event(asset: dg.AssetKey, partition: str, tags: dict[str, str]) -> dg.AssetMaterialization:
    """With as much metadata as a gate's events have."""
    metadata = {
        "outcome": "success",
        "cached": False,
        "total_s": 0.1,
        "question": "Pick up the mug that I moved from the table to the countertop",
        "answer": "mug: countertop, kitchen",
        "given by": "model-a, model-b, model-c",
        "finished": dg.MetadataValue.timestamp(time.time()),
        "host": "node-1",
    }
    return dg.AssetMaterialization(asset, partition=partition, metadata=metadata, tags=tags)


def _new_run(instance: dg.DagsterInstance, asset: dg.AssetKey) -> str:
    run = dg.DagsterRun(_JOB, make_new_run_id(), status=dg.DagsterRunStatus.SUCCESS, asset_selection=frozenset({asset}))
    instance.run_storage.add_run(run)
    return run.run_id


def _put(instance: dg.DagsterInstance, run: str, events: Iterable[dg.AssetMaterialization]) -> None:
    for batch in _batches(events):
        _put_batch(_log(instance), run, batch)


def _put_batch(log: SqlEventLogStorage, run: str, batch: Sequence[dg.AssetMaterialization]) -> None:
    """What the log's `store_event` does for each event, for many at a time."""
    entries = [_entry(run, event) for event in batch]
    table = SqlEventLogStorageTable
    newest = select(table.c.id).where(table.c.run_id == run).order_by(table.c.id.desc()).limit(len(batch))
    with log.index_transaction() as connection:
        connection.execute(table.insert(), [log._event_to_row(entry) for entry in entries])
        ids = [row[0] for row in connection.execute(newest)][::-1]
        log._store_asset_event_tags(connection, entries, ids)
        log._store_asset_event(connection, entries[-1], ids[-1])


def _batches(events: Iterable[dg.AssetMaterialization]) -> Iterable[Sequence[dg.AssetMaterialization]]:
    rest = iter(events)
    while batch := list(islice(rest, 5000)):
        yield batch


def _entry(run: str, event: dg.AssetMaterialization) -> dg.EventLogEntry:
    data = StepMaterializationData(event)
    said = DagsterEvent("ASSET_MATERIALIZATION", _JOB, step_key=event.asset_key.path[-1], event_specific_data=data)
    return dg.EventLogEntry(None, 10, "", run, time.time(), event.asset_key.path[-1], _JOB, said)


def _log(instance: dg.DagsterInstance) -> SqlEventLogStorage:
    log = instance.event_log_storage
    assert isinstance(log, SqlEventLogStorage)
    return log
