"""A study as its assets see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import timedelta
from functools import cached_property, lru_cache
from typing import Any

import dagster as dg

from assets.code_version import code_version
from assets.failures import last_failures_spec
from assets.partitions import Partitions
from assets.pool import POOL, SIMULATING
from sbench_dag.gate import Gate, Keys
from sbench_dag.pipeline import GATES, Fingerprints, gates_before, inside
from sbench_dag.plans.build import Manifest
from sbench_dag.plans.manifest import StoredManifest
from sbench_dag.stale import REPORT, SUMMARY
from sbench_dag.study import Study, load_study

EPISODES = "episodes"
# Dagster sorts groups by name
_GROUPS = {
    EPISODES: "0_inputs",
    "g0_spike": "1_restore",
    "stage_b": "2_reach",
    "stage_c": "3_lift",
    "rollout_rewards": "4_reward",
    "reward_bench": "4_reward",
    "reward_training": "4_reward",
    REPORT: "5_report",
    SUMMARY: "5_report",
}


def partitions_of(study: Study, manifest: Manifest | None = None) -> Partitions:
    """Those of the manifest as it is now: the same ones until it changes. manifest: instead of the stored one."""
    return _partitions(manifest or study.manifest, study.partitions.by == "episode")


@lru_cache(maxsize=8)
def _partitions(manifest: Manifest | StoredManifest, by_episode: bool) -> Partitions:
    return Partitions(manifest, by_episode)


Decorator = Callable[[Callable[..., Any]], dg.AssetsDefinition]


@dataclass(frozen=True)
class Scope:
    """What the assets of a study are defined from: its manifest as it was when the code location was loaded.

    report_max_age: after which the report counts as not fresh.
    """

    study: Study
    report_max_age: timedelta | None = None

    @cached_property
    def partitions(self) -> Partitions:
        return partitions_of(self.study)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        return Fingerprints(self.study)

    @property
    def group(self) -> str:
        """What the names of the study's groups begin with."""
        return re.sub(r"\W", "_", self.study.name)

    def group_of(self, name: str) -> str:
        """`<study>__<n>_<what the asset does>`, so that a study's groups stand together and in the pipeline's order."""
        return f"{self.group}__{_GROUPS[name]}"

    @property
    def about(self) -> dict[str, Any]:
        """What every asset of the study says of itself."""
        return {
            "study": dg.MetadataValue.path(str(self.study.folder)),
            "data set": dg.MetadataValue.path(str(self.study.dataset_path.resolve())),
            "revision": self.study.revision,
            "scenes": self.study.scene_source,
        }

    def key(self, name: str) -> dg.AssetKey:
        """Two studies never share an asset."""
        return dg.AssetKey([self.study.name, name])

    def current(self) -> Study:
        """The study as its files are now: a run may start long after the code location was loaded."""
        return load_study(self.study.folder)

    def gate_asset(self, gate: Gate, checks: Sequence[dg.AssetCheckSpec]) -> Decorator:
        """`dg.asset` with what all gates' assets have in common."""
        return dg.asset(
            key=self.key(gate.name),
            group_name=self.group_of(gate.name),
            description=gate.description,
            partitions_def=self.partitions.definitions[gate.keys],
            backfill_policy=own_policy(gate.name),
            pool=POOL if gate.name in SIMULATING else None,
            code_version=code_version(self.fingerprints, gate.name),
            deps=[self.episodes_dep(gate.keys), *(self.dep(up, gate.keys) for up in gates_before(gate))],
            check_specs=[*checks, last_failures_spec(self.key(gate.name))],
            metadata={**self.about, "settings": dg.MetadataValue.json(self._settings(gate))},
            output_required=False,
        )

    def _settings(self, gate: Gate) -> dict[str, Any]:
        """The part of study.toml that a gate reads, and those that it runs inside itself."""
        found: dict[str, Any] = {}
        for part in inside(gate):
            settings = part.settings(self.study)
            parts = settings if isinstance(settings, tuple) else (settings,)
            found[part.name] = [asdict(p) if is_dataclass(p) and not isinstance(p, type) else p for p in parts]
        return found

    def dep(self, up: Gate, keys: Keys) -> dg.AssetDep:
        return dg.AssetDep(self.key(up.name), partition_mapping=self.partitions.mapping(up.keys, keys))

    def episodes_dep(self, keys: Keys) -> dg.AssetDep:
        """Of every step, because Dagster's stale marks look no further than one step up."""
        return dg.AssetDep(self.key(EPISODES), partition_mapping=self.partitions.mapping(Keys.EPISODE, keys))


def own_policy(name: str) -> dg.BackfillPolicy:
    """One run per range of partitions, by a policy that no other asset has.

    A gate over many partitions yields no Output, so what hangs on it would be skipped silently in the same run.
    Dagster only lets assets share a run whose policies are equal: a limit that is never reached keeps them apart.
    """
    names = [gate.name for gate in GATES] + [REPORT]
    return dg.BackfillPolicy.multi_run(max_partitions_per_run=1_000_000 + names.index(name))
