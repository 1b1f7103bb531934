"""The gates in the order in which plans pass them, their items, and the fingerprints that results must have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, cached_property

import mujoco

from sbench_dag.gate import Gate, Keys
from sbench_dag.grounding.gate import STAGE_B
from sbench_dag.manipulation.gate import ROLLOUT, STAGE_C
from sbench_dag.plans.build import Entry
from sbench_dag.rewards.bench.gate import REWARD_BENCH
from sbench_dag.rewards.gate import ROLLOUT_REWARDS
from sbench_dag.rewards.small.gate import REWARD_TRAINING
from sbench_dag.scenes.gate import G0_SPIKE
from sbench_dag.scenes.scene import SceneSource
from sbench_dag.scenes.sources import open_source
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import combine, fingerprint
from sbench_dag.work.item import WorkItem

GATES: tuple[Gate, ...] = (G0_SPIKE, STAGE_B, STAGE_C, ROLLOUT_REWARDS)
ASIDE: tuple[Gate, ...] = (REWARD_BENCH, REWARD_TRAINING)
"""What plans don't pass: they work on the study's reward models."""
_BY_NAME: dict[str, Gate] = {gate.name: gate for gate in (*GATES, ROLLOUT, *ASIDE)}


def find_gate(name: str) -> Gate:
    if name not in _BY_NAME:
        raise ValueError(f"no gate {name!r}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def inside(gate: Gate) -> list[Gate]:
    """The gate and those that it runs inside itself, which are not in GATES."""
    hidden = [found for name in gate.upstream if find_gate(name) not in GATES for found in inside(find_gate(name))]
    return [gate, *hidden]


def gates_before(gate: Gate) -> list[Gate]:
    """The nearest gates of GATES upstream."""
    return [up for part in inside(gate) for name in part.upstream if (up := find_gate(name)) in GATES]


def items(study: Study, gate: Gate) -> list[WorkItem]:
    """Every item of a gate, in the order of its partitions: sorted, so that an episode's plans stand together.

    Of one that is asked for by hand alone there are none.
    """
    if gate.keys is Keys.LAUNCH:
        return []
    if gate.keys is Keys.MODEL:
        return [WorkItem(name, name, gate.cost_s, timeout_s=gate.timeout_s) for name in study.rewards.benchmarked]
    manifest = study.manifest
    if gate.keys is Keys.EPISODE:
        return [WorkItem(episode, episode, gate.cost_s) for episode in manifest.episodes]
    return [
        WorkItem(entry.key, entry.episode if gate.batch == 1 else "", gate.cost_s, gate.batch)
        for entry in manifest.entries
        if gate.keys is Keys.PLAN or entry.is_pick
    ]


def item_keys(gate: Gate, episode: str, entries: Iterable[Entry]) -> list[str]:
    """The keys of a gate's items of one episode. entries: the episode's."""
    if gate.keys is Keys.EPISODE:
        return [episode]
    return [entry.key for entry in entries if gate.keys is Keys.PLAN or entry.is_pick]


class Fingerprints:
    """The fingerprints that the results of one study must have today. Reads each input once.

    before: those of an earlier look at the same study; what has not changed since is taken from there.
    """

    def __init__(self, study: Study, before: Fingerprints | None = None):
        self.study = study
        self._manifest = study.manifest
        self._episode = cache(lambda episode: self._episode_content(episode, self._source))
        self._fixed = cache(self._fixed_parts)
        self._own = cache(self._own_content)
        self._known: dict[str, dict[tuple[str, str], str]] = {episode: {} for episode in self._manifest.episodes}
        self._plans = self._manifest.entry
        self._gates_before = cache(lambda name: gates_before(find_gate(name)))
        self._same: frozenset[str] = frozenset()
        if before and before._manifest is self._manifest and before._all_fixed() == self._all_fixed():
            self._same = frozenset(name for name in self._known if before._episode(name) == self._episode(name))
            self._known |= {episode: before._known[episode] for episode in self._same}

    def is_as_before(self, episode: str) -> bool:
        """Whether all fingerprints of the episode are those of the earlier look."""
        return episode in self._same

    def wanted(self, gate: Gate, keys: Iterable[str] | None = None) -> dict[str, str]:
        if keys is None:
            keys = [item.key for item in items(self.study, gate)]
        return {key: self.of(gate.name, key) for key in keys}

    def of(self, name: str, key: str) -> str:
        """
        Raises:
            KeyError: the manifest does not name the key.
        """
        gate = find_gate(name)
        if gate.content is not None:
            return combine([name, *self.parts(name, key).values()])
        known = self._known[self._episode_of(gate, key)]
        found = known.get((name, key))
        if found is None:
            found = known[name, key] = combine([name, *self.parts(name, key).values()])
        return found

    def parts(self, name: str, key: str) -> dict[str, str]:
        """What a fingerprint is made of: `code`, `engine`, `configuration`, `episode`, `answer`, and earlier gates.

        Of gates that run inside this one, code and configuration are part of this one's. Of an item that is no
        episode's there are `code`, `configuration` and `content` alone.
        """
        gate = find_gate(name)
        if gate.content is not None:
            return {**self._fixed(name), "content": self._own(name, key)}
        own = {} if gate.keys is Keys.EPISODE else {"answer": self._plans[key].content}
        episode = self._episode_of(gate, key)
        before = {
            up.name: self.of(up.name, episode if up.keys is Keys.EPISODE else key) for up in self._gates_before(name)
        }
        return {**self._fixed(name), "episode": self._episode(episode), **own, **before}

    def content(self, episode: str) -> str:
        """Of the episode's files, as they were when they were read."""
        return self._episode(episode)

    def common(self, name: str) -> str:
        """Hash of what is the same for all of a gate's items: code, engine and configuration, earlier gates' too."""
        return combine([*self._fixed(name).values(), *(self.common(up.name) for up in gates_before(find_gate(name)))])

    def is_current(self, name: str, key: str) -> bool:
        """Whether the episode's files, and its scene's, are still those that were read; or the item's own content."""
        gate = find_gate(name)
        if gate.content is not None:
            return self._own_content(name, key) == self._own(name, key)
        episode = self._episode_of(gate, key)
        return self._episode_content(episode, self._open_source()) == self._episode(episode)

    def _episode_of(self, gate: Gate, key: str) -> str:
        return key if gate.keys is Keys.EPISODE else self._plans[key].episode

    def _all_fixed(self) -> list[dict[str, str]]:
        return [self._fixed(name) for name, gate in _BY_NAME.items() if gate.content is None]

    def _fixed_parts(self, name: str) -> dict[str, str]:
        """Those that are the same for all of a gate's items."""
        gate, study = find_gate(name), self.study
        if gate.content is not None:
            return {"code": fingerprint(gate.code_version), "configuration": fingerprint(gate.settings(study))}
        gates = inside(gate)
        settings = [gate.settings(study) for gate in gates]
        return {
            "code": fingerprint([gate.code_version for gate in gates], self._source.version),
            "engine": fingerprint(study.physics.mujoco or mujoco.__version__),
            "configuration": fingerprint(settings, study.scene_source, replace(study.physics, mujoco="")),
        }

    def _own_content(self, name: str, key: str) -> str:
        content = find_gate(name).content
        assert content is not None
        return content(self.study, key)

    def _episode_content(self, name: str, source: SceneSource) -> str:
        episode = self.study.dataset.episode(name)
        scene = source.content(episode)
        return combine([episode.content, scene]) if scene else episode.content

    @cached_property
    def _source(self) -> SceneSource:
        return self._open_source()

    def _open_source(self) -> SceneSource:
        return open_source(self.study.scene_source, self.study.dataset.root)
