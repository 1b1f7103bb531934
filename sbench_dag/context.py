"""What a worker keeps while it runs one item after the other: the study, its results, and the last world."""

from __future__ import annotations

from sbench_dag.errors import InvalidError, SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.plans.plan import Plan
from sbench_dag.scenes.sources import open_source
from sbench_dag.scenes.world import World
from sbench_dag.study import Study
from sbench_dag.work.store import Line, Store


class Context:
    """One per worker process. A world is built once for all plans of an episode."""

    def __init__(self, study: Study):
        self.study = study
        self.store = Store(study.results)
        self.fingerprints = Fingerprints(study)
        self._plans = study.manifest.by_key
        self._source = open_source(study.scene_source, study.dataset.root, study.physics)
        self._world: World | None = None
        self._failed: tuple[str, InvalidError] | None = None
        self._results: dict[str, dict[str, Line]] = {}

    def plan(self, key: str) -> Plan:
        return self._plans[key]

    def world(self, episode: str) -> World:
        """The episode's scene, restored and settled. A world that can't be had is not tried twice in a row."""
        if self._failed is not None and self._failed[0] == episode:
            raise self._failed[1]
        if self._world is None or self._world.episode.name != episode:
            self._world = None  # two worlds at a time are one too many for the memory
            try:
                self._world = World(self._source, self.study.dataset.episode(episode), self.study.restore)
            except InvalidError as error:
                self._failed = (episode, error)
                raise
        return self._world

    def upstream(self, gate: str, key: str) -> Line:
        """The earlier gate's current result for a key.

        Raises:
            SetupError: the earlier gate has not run for this key.
            InvalidError: it has, and its own result is invalid.
        """
        line = self._results.get(gate, {}).get(key)
        if line is None:
            self._results[gate] = self.store.results(gate, self.fingerprints.wanted(find_gate(gate)))
            line = self._results[gate].get(key)
        if line is None:
            raise SetupError(f"{key}: {gate} has no current result for it; run {gate} first")
        if line.outcome is Outcome.INVALID:
            reason = Reason.G0_FAILED if gate == "g0_spike" else Reason.UPSTREAM_INVALID
            raise InvalidError(reason, f"{gate}: {line.result.message}")
        return line
