"""The episodes' files as an asset that is observed and never made, so that Dagster's stale marks follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import dagster as dg

from assets.provenance import Input
from assets.scope import EPISODES, Scope
from sbench_dag.gate import Keys

_TEXT = (
    "The files of each episode, as the data set holds them. Never made here: the sensor `new_data` and every run tell "
    "Dagster when their content has changed, as *Observe* does."
)


def episodes(scope: Scope) -> dg.SourceAsset:
    @dg.observable_source_asset(
        key=scope.key(EPISODES),
        group_name=scope.group_of(EPISODES),
        description=_TEXT,
        partitions_def=scope.partitions.definitions[Keys.EPISODE],
        metadata=scope.about,
    )
    def asset() -> dg.DataVersionsByPartition:
        study = scope.current()
        return dg.DataVersionsByPartition({e: study.dataset.episode(e).content for e in study.manifest.episodes})

    return asset


def episodes_input(scope: Scope, keys: Keys, partitions: Iterable[str], content: Callable[[str], str]) -> Input:
    """The episodes of the partitions of a run. content: an episode's, as the run has read it."""
    names = {scope.partitions.episode_of[partition] for partition in partitions}
    contents = {name: content(name) for name in sorted(names)}
    return Input(scope.key(EPISODES), scope.partitions.upstream(Keys.EPISODE, keys), contents)
