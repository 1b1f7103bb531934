"""The gates in the order in which plans pass them, their items, and the fingerprints that results must have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import mujoco

from sbench_dag.dataset.eval_spec import Scoring
from sbench_dag.gate import Gate, Keys
from sbench_dag.grounding.gate import STAGE_B
from sbench_dag.manipulation.gate import ROLLOUT, STAGE_C
from sbench_dag.rewards.gate import ROLLOUT_REWARDS
from sbench_dag.scenes.gate import G0_SPIKE
from sbench_dag.scenes.sources import open_source
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.item import WorkItem

GATES: tuple[Gate, ...] = (G0_SPIKE, STAGE_B, STAGE_C, ROLLOUT_REWARDS)
_BY_NAME: dict[str, Gate] = {gate.name: gate for gate in (*GATES, ROLLOUT)}


def find_gate(name: str) -> Gate:
    if name not in _BY_NAME:
        raise ValueError(f"no gate {name!r}; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def items(study: Study, gate: Gate) -> list[WorkItem]:
    """Every item of a gate, in the order of its partitions: sorted, so that an episode's plans stand together."""
    manifest = study.manifest
    if gate.keys is Keys.EPISODE:
        return [WorkItem(episode, episode, gate.cost_s) for episode in manifest.episodes]
    return [
        WorkItem(plan.key, plan.episode, gate.cost_s)
        for plan in manifest.plans
        if gate.keys is Keys.PLAN or plan.scoring is Scoring.LIFTED
    ]


class Fingerprints:
    """The fingerprints that the results of one study must have today. Reads each input once."""

    def __init__(self, study: Study):
        self.study = study
        self._plans = study.manifest.by_key
        self._episode = cache(self._episode_content)
        self._settings = cache(self._gate_settings)
        self.of = cache(self._of)

    def wanted(self, gate: Gate, keys: Iterable[str] | None = None) -> dict[str, str]:
        if keys is None:
            keys = [item.key for item in items(self.study, gate)]
        return {key: self.of(gate.name, key) for key in keys}

    def _of(self, name: str, key: str) -> str:
        gate = find_gate(name)
        episode = key if gate.keys is Keys.EPISODE else self._plans[key].episode
        plan = None if gate.keys is Keys.EPISODE else self._plans[key].content
        upstream = {up: self.of(up, episode if find_gate(up).keys is Keys.EPISODE else key) for up in gate.upstream}
        return fingerprint(self._settings(name), self._episode(episode), plan, upstream)

    def _gate_settings(self, name: str) -> str:
        gate = find_gate(name)
        return fingerprint(
            gate.name,
            gate.code_version,
            gate.settings(self.study),
            self.study.scene_source,
            open_source(self.study.scene_source, self.study.dataset.root).version,
            replace(self.study.physics, mujoco=self.study.physics.mujoco or mujoco.__version__),
        )

    def _episode_content(self, episode: str) -> str:
        return self.study.dataset.episode(episode).content
