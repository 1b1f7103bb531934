"""What Dagster remembers of each partition's last event, and the tags that its stale status reads.

An event that an asset logs itself carries none of them, and would be called stale for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """One upstream asset, and its partitions that each of ours hangs on."""

    asset: dg.AssetKey
    parents: Mapping[str, Sequence[str]]


class Provenance:
    """The inputs' versions as they are when this is made, in two queries for each."""

    def __init__(self, instance: dg.DagsterInstance, code_version: str, inputs: Sequence[Input]):
        self._code_version = code_version
        self._inputs = [(i, last_versions(instance, i.asset), last_events(instance, i.asset)) for i in inputs]

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


def last_versions(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, str]:
    """The data version of each partition's last materialisation."""
    found = instance.event_log_storage.get_latest_tags_by_partition(
        asset, dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG]
    )
    return {key: tags[DATA_VERSION_TAG] for key, tags in found.items()}


def last_events(instance: dg.DagsterInstance, asset: dg.AssetKey) -> Mapping[str, int]:
    """The storage id of each partition's last materialisation."""
    return instance.event_log_storage.get_latest_storage_id_by_partition(
        asset, dg.DagsterEventType.ASSET_MATERIALIZATION
    )


def last_version(instance: dg.DagsterInstance, asset: dg.AssetKey) -> str | None:
    """The data version of an unpartitioned asset's last materialisation."""
    event = instance.get_latest_materialization_event(asset)
    materialization = event.asset_materialization if event else None
    return (materialization.tags or {}).get(DATA_VERSION_TAG) if materialization else None
