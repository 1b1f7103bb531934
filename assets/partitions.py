"""The partitions of a study and how those of one gate map onto those of another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import dagster as dg

from sbench_dag.gate import Keys
from sbench_dag.plans.build import Manifest
from sbench_dag.plans.manifest import StoredManifest
from sbench_dag.work.fingerprint import combine


@dataclass(frozen=True)
class Partitions:
    """Defined by the manifest, sorted by episode, so that an episode's plans stand together.

    by_episode: an episode's plans are one partition, with the episode's name, of every gate.
    """

    manifest: Manifest | StoredManifest
    by_episode: bool = False

    @cached_property
    def members(self) -> Mapping[Keys, Mapping[str, Sequence[str]]]:
        """The items of each partition. Without `by_episode` that is one, with the same key."""
        found: dict[Keys, dict[str, list[str]]] = {Keys.PLAN: {}, Keys.PICK: {}}
        for entry in sorted(self.manifest.entries):
            name = entry.episode if self.by_episode else entry.key
            found[Keys.PLAN].setdefault(name, []).append(entry.key)
            if entry.is_pick:
                found[Keys.PICK].setdefault(name, []).append(entry.key)
        return {Keys.EPISODE: {episode: [episode] for episode in sorted(self.manifest.episodes)}, **found}

    @cached_property
    def keys(self) -> Mapping[Keys, tuple[str, ...]]:
        return {kind: tuple(partitions) for kind, partitions in self.members.items()}

    @cached_property
    def definitions(self) -> Mapping[Keys, dg.StaticPartitionsDefinition]:
        return {kind: dg.StaticPartitionsDefinition(keys) for kind, keys in self.keys.items()}

    @cached_property
    def episode_of(self) -> Mapping[str, str]:
        """The episode of each partition and of each plan."""
        plans = {entry.key: entry.episode for entry in self.manifest.entries}
        return {**plans, **{episode: episode for episode in self.manifest.episodes}}

    def downstream(self, up: Keys, down: Keys) -> dict[str, Sequence[str]]:
        """The partitions of `down` that hang on each partition of `up`, where any do. One of the two is the episode."""
        if up is not Keys.EPISODE:
            alone = {episode: (episode,) for episode in self.manifest.episodes}
            return {key: alone[self.episode_of[key]] for key in self.keys[up]}
        found: dict[str, list[str]] = {}
        for key in self.keys[down]:
            found.setdefault(self.episode_of[key], []).append(key)
        return {**found}

    def upstream(self, up: Keys, down: Keys) -> dict[str, list[str]]:
        """The partitions of `up` that each partition of `down` hangs on."""
        episodes: dict[str, list[str]] = {episode: [] for episode in self.manifest.episodes}
        for key in self.keys[up]:
            episodes[self.episode_of[key]].append(key)
        if self.by_episode or down is Keys.EPISODE:
            return {key: episodes[key] for key in self.keys[down]}
        return {key: [self.episode_of[key]] if up is Keys.EPISODE else [key] for key in self.keys[down]}

    def version(self, kind: Keys, partition: str, version_of: Callable[[str], str]) -> str:
        """A partition's version: its only item's, or one that changes whenever any of its items' does."""
        keys = self.members[kind][partition]
        if not self.by_episode or kind is Keys.EPISODE:
            return version_of(keys[0])
        return combine([version_of(key) for key in keys])

    def mapping(self, up: Keys, down: Keys) -> dg.PartitionMapping:
        """Made once for each pair: at 100,000 plans one takes half a second."""
        if self.by_episode or up is down or (up, down) == (Keys.PLAN, Keys.PICK):
            return dg.IdentityPartitionMapping()
        if (up, down) not in self._mappings:
            self._mappings[up, down] = dg.StaticPartitionMapping(self.downstream(up, down))
        return self._mappings[up, down]

    @cached_property
    def _mappings(self) -> dict[tuple[Keys, Keys], dg.PartitionMapping]:
        return {}


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
