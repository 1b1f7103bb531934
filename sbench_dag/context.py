"""What a worker keeps while it runs one item after the other: the study, its results, and the last world."""

from __future__ import annotations

from functools import cached_property

import mujoco

from sbench_dag.errors import InvalidError, SetupError
from sbench_dag.gate import Gate
from sbench_dag.manipulation.policy import Policy, make_policy
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.plans.plan import Plan
from sbench_dag.rewards.panel import Panel
from sbench_dag.scenes.sources import open_source
from sbench_dag.scenes.world import World
from sbench_dag.study import Study
from sbench_dag.work.item import Result, WorkItem
from sbench_dag.work.store import Line, Segment, Store


class OutdatedError(Exception):
    """A result of today's inputs must not get the fingerprint of others."""

    def __init__(self):
        super().__init__(
            "the study or its data set has changed since this was asked for; run it again, "
            "or reload the UI if it is no longer there"
        )


class Context:
    """One per worker process. A world is built once for all plans of an episode."""

    def __init__(self, study: Study):
        """
        Raises:
            SetupError: the study asks for another MuJoCo than this environment has.
        """
        wanted = study.physics.mujoco
        if wanted not in ("", mujoco.__version__):
            raise SetupError(
                f"{study.folder / 'study.toml'}: physics.mujoco = {wanted!r}, and this worker has {mujoco.__version__}"
            )
        self.study = study
        self.store = Store(study.results)
        self.fingerprints = Fingerprints(study)
        self._plans = study.manifest.by_key
        self._source = open_source(study.scene_source, study.dataset.root, study.physics.sleep)
        self._world: World | None = None
        self._failed: tuple[str, InvalidError] | None = None
        self._results: dict[str, dict[str, Line]] = {}
        self._segments: dict[str, Segment] = {}

    def plan(self, key: str) -> Plan:
        return self._plans[key]

    def world(self, episode: str) -> World:
        """The episode's scene, restored and settled. A world that can't be had is not tried twice in a row."""
        if self._failed is not None and self._failed[0] == episode:
            raise self._failed[1]
        if self._world is None or self._world.episode.name != episode:
            self._world = None  # two worlds at a time are one too many for the memory
            try:
                self._world = World(self._source, self.study.dataset.episode(episode), self.study.restore.settle_s)
            except InvalidError as error:
                self._failed = (episode, error)
                raise
        return self._world

    @cached_property
    def policy(self) -> Policy:
        """The study's policy: loaded once, told of each new attempt."""
        return make_policy(self.study.policy)

    @cached_property
    def panel(self) -> Panel:
        """The study's reward models."""
        return Panel(self.study, self.store)

    def obtain(self, gate: Gate, item: WorkItem, again: bool = False) -> Line:
        """A result of a gate that another one runs inside itself: the stored one, or a new one that is stored.

        again: the stored one's files are damaged, so it doesn't count.
        """
        line = None if again else self._stored(gate.name).get(item.key)
        if line is not None and line.outcome.is_result:
            return line
        wanted = self.fingerprints.of(gate.name, item.key)
        if gate.name not in self._segments:
            self._segments[gate.name] = self.store.segment(gate.name)
        made_of = self.fingerprints.parts(gate.name, item.key)
        return self._segments[gate.name].append(item.key, wanted, self.run(gate, item), made_of)

    def run(self, gate: Gate, item: WorkItem) -> Result:
        """A gate's result, of one state of the item's files.

        Raises:
            OutdatedError: they have changed meanwhile, so it may have read some of both.
        """
        try:
            return gate.run(self, item)
        finally:  # also what went wrong may be wrong with files that are gone
            if not self.fingerprints.is_current(gate.name, item.key):
                self._world = self._failed = None  # it may be of files that were there for a moment
                raise OutdatedError

    def upstream(self, gate: str, key: str) -> Line:
        """The earlier gate's current result for a key.

        Raises:
            SetupError: the earlier gate has not run for this key.
            InvalidError: it has, and its own result is invalid.
        """
        line = self._stored(gate).get(key) or self._stored(gate, afresh=True).get(key)
        if line is None or line.outcome is Outcome.NOT_RUN:
            raise SetupError(f"{key}: {gate} has no current result for it; run {gate} first")
        if line.outcome is Outcome.INVALID:
            reason = Reason.G0_FAILED if gate == "g0_spike" else Reason.UPSTREAM_INVALID
            raise InvalidError(reason, f"{gate}: {line.result.message}")
        return line

    def _stored(self, gate: str, afresh: bool = False) -> dict[str, Line]:
        """Today's stored results of a gate, read once."""
        if afresh:
            self.store.refresh(gate)
        if afresh or gate not in self._results:
            self._results[gate] = self.store.results(gate, self.fingerprints.wanted(find_gate(gate)))
        return self._results[gate]
