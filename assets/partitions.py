"""The partitions of a study and how those of one gate map onto those of another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import dagster as dg

from sbench_dag.gate import Keys
from sbench_dag.plans.build import Manifest
from sbench_dag.plans.manifest import StoredManifest


@dataclass(frozen=True)
class Partitions:
    """Defined by the manifest, sorted by episode, so that an episode's plans stand together."""

    manifest: Manifest | StoredManifest

    @cached_property
    def keys(self) -> Mapping[Keys, tuple[str, ...]]:
        entries = self.manifest.entries
        return {
            Keys.EPISODE: tuple(sorted(self.manifest.episodes)),
            Keys.PLAN: tuple(sorted(entry.key for entry in entries)),
            Keys.PICK: tuple(sorted(entry.key for entry in entries if entry.is_pick)),
        }

    @cached_property
    def definitions(self) -> Mapping[Keys, dg.StaticPartitionsDefinition]:
        return {kind: dg.StaticPartitionsDefinition(keys) for kind, keys in self.keys.items()}

    @cached_property
    def episode_of(self) -> Mapping[str, str]:
        return {entry.key: entry.episode for entry in self.manifest.entries}

    def downstream(self, up: Keys, down: Keys) -> dict[str, set[str]]:
        """The partitions of `down` that hang on each partition of `up`."""
        found: dict[str, set[str]] = {key: set() for key in self.keys[up]}
        for key, parents in self.upstream(up, down).items():
            for parent in parents:
                found[parent].add(key)
        return {parent: keys for parent, keys in found.items() if keys}

    def upstream(self, up: Keys, down: Keys) -> dict[str, list[str]]:
        """The partitions of `up` that each partition of `down` hangs on."""
        if down is not Keys.EPISODE:
            return {key: [self.episode_of[key] if up is Keys.EPISODE else key] for key in self.keys[down]}
        found: dict[str, list[str]] = {key: [] for key in self.keys[down]}
        for key in self.keys[up]:
            found[key if up is Keys.EPISODE else self.episode_of[key]].append(key)
        return found

    def mapping(self, up: Keys, down: Keys) -> dg.PartitionMapping:
        return dg.StaticPartitionMapping(self.downstream(up, down))


def spans(order: Sequence[str], stale: Collection[str], harmless: Collection[str]) -> list[tuple[str, str]]:
    """The stale partitions as ranges, first and last, of as few runs as possible.

    A range may cover harmless partitions, which cost nothing but an event, and never any other.
    """
    ranges: list[tuple[str, str]] = []
    is_open = False
    for key in order:
        if key in stale:
            ranges[-1:] = [(ranges[-1][0], key)] if is_open else [*ranges[-1:], (key, key)]
            is_open = True
        elif key not in harmless:
            is_open = False
    return ranges
