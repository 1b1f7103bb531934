"""What Dagster remembers of each partition's last event, and the tags that its stale status reads.

An event that an asset logs itself carries none of them, and would be called stale for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    NULL_EVENT_POINTER,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from sbench_dag.work.fingerprint import fingerprint


@dataclass(frozen=True)
class Input:
    """One upstream asset, and its partitions that each of ours hangs on.

    contents: of an asset that is observed, not materialised: what the run has read of its partitions.
    """

    asset: dg.AssetKey
    parents: Mapping[str, Sequence[str]]
    contents: Mapping[str, str] | None = None


class Provenance:
    """The inputs' versions as they are when this is made, in two queries for each.

    Dagster is told of contents that it does not know yet.
    """

    def __init__(self, instance: dg.DagsterInstance, code_version: str, inputs: Sequence[Input]):
        self._code_version = code_version
        self._inputs = [(i, *_state(instance, i)) for i in inputs]

    def tags(self, key: str, version: str) -> dict[str, str]:
        tags = {
            DATA_VERSION_TAG: version,
            DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
            CODE_VERSION_TAG: self._code_version,
        }
        for source, versions, events in self._inputs:
            parents = source.parents[key]
            known = [versions.get(parent, "") for parent in parents]
            pointer = max((events[parent] for parent in parents if parent in events), default=None)
            tags[get_input_data_version_tag(source.asset)] = known[0] if len(known) == 1 else fingerprint(known)
            tags[get_input_event_pointer_tag(source.asset)] = str(pointer) if pointer else NULL_EVENT_POINTER
        return tags


def observations(
    asset: dg.AssetKey, contents: Mapping[str, str], known: Mapping[str, str]
) -> list[dg.AssetObservation]:
    """What Dagster has to be told so that it knows the contents of these partitions."""
    changed = {key: content for key, content in contents.items() if known.get(key) != content}
    tags = {key: {DATA_VERSION_TAG: c, DATA_VERSION_IS_USER_PROVIDED_TAG: "true"} for key, c in changed.items()}
    return [dg.AssetObservation(asset, partition=key, tags=tags[key]) for key in changed]


def _state(instance: dg.DagsterInstance, source: Input) -> tuple[Mapping[str, str], Mapping[str, int]]:
    """The version of each partition, and the storage id of the event up to which Dagster shall know of nothing newer.

    Of an observed asset a sensor may have told more since the run read it: then its id is the one before that.
    """
    asset, contents = source.asset, source.contents
    if contents is None:
        return last_versions(instance, asset), last_events(instance, asset)
    for event in observations(asset, contents, last_observed(instance, asset)):
        instance.report_runless_asset_event(event)
    events = _last_events(instance, asset, dg.DagsterEventType.ASSET_OBSERVATION)
    now = last_observed(instance, asset)
    return contents, {key: event - (now[key] != contents.get(key)) for key, event in events.items()}


def last_versions(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, str]:
    """The data version of each partition's last materialisation."""
    return _last_versions(instance, asset, dg.DagsterEventType.ASSET_MATERIALIZATION)


def last_observed(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, str]:
    """The data version of each partition's last observation."""
    return _last_versions(instance, asset, dg.DagsterEventType.ASSET_OBSERVATION)


def of_other_code(
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    code_version: str,
    events: Mapping[str, int],
    partitions: Collection[str],
) -> frozenset[str]:
    """Those of the partitions whose last event carries another code version. events: see `last_events`.

    Dagster has no bulk query for it, so the oldest of these events speaks for all if its version is the right one.
    """
    ids = sorted(events[partition] for partition in partitions)
    if not ids or not _of_other_code(instance, asset, code_version, ids[:1]):
        return frozenset()
    return frozenset(_of_other_code(instance, asset, code_version, ids))


def _of_other_code(
    instance: dg.DagsterInstance, asset: dg.AssetKey, code_version: str, ids: Sequence[int]
) -> list[str]:
    records = instance.fetch_materializations(dg.AssetRecordsFilter(asset, storage_ids=ids), limit=len(ids)).records
    events = [event for record in records if (event := record.asset_materialization)]
    return [e.partition for e in events if e.partition and (e.tags or {}).get(CODE_VERSION_TAG) != code_version]


def _last_versions(instance: dg.DagsterInstance, asset: dg.AssetKey, kind: dg.DagsterEventType) -> Mapping[str, str]:
    found = instance.event_log_storage.get_latest_tags_by_partition(asset, kind, [DATA_VERSION_TAG])
    return {key: tags[DATA_VERSION_TAG] for key, tags in found.items()}


def last_events(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, int]:
    """The storage id of each partition's last materialisation."""
    return _last_events(instance, asset, dg.DagsterEventType.ASSET_MATERIALIZATION)


def _last_events(instance: dg.DagsterInstance, asset: dg.AssetKey, kind: dg.DagsterEventType) -> Mapping[str, int]:
    return instance.event_log_storage.get_latest_storage_id_by_partition(asset, kind)


def last_version(instance: dg.DagsterInstance, asset: dg.AssetKey) -> str | None:
    """The data version of an unpartitioned asset's last materialisation."""
    event = instance.get_latest_materialization_event(asset)
    materialization = event.asset_materialization if event else None
    return (materialization.tags or {}).get(DATA_VERSION_TAG) if materialization else None
