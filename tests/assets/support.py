"""A study of by_hand.py whose work is done by a pretended cluster: Dagster's side alone, without simulation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from assets.of_study import study_assets
from assets.scope import Scope
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study, load_study
from sbench_dag.work.item import Result, Task
from sbench_dag.work.store import Line, Store

Judge = Callable[[str, str], Result | None]


def everything_works(gate: str, key: str) -> Result:
    return Result(Outcome.SUCCESS, row={"reached": True} if gate == "stage_b" else {})


@dataclass
class Pretended:
    """A cluster that asks `judge(gate, key)` for each result (None: the cluster loses the item) and notes its calls."""

    judge: Judge = everything_works
    calls: list[tuple[str, str]] = field(default_factory=list)

    def run(
        self, study: Path, gate: str, tasks: Sequence[Task], is_cancelled: Callable[[], bool]
    ) -> Generator[Line, None, None]:
        segment = Store(load_study(study).results).segment(gate)
        for task in tasks:
            self.calls.append((gate, task.item.key))
            result = self.judge(gate, task.item.key)
            if result is not None:
                yield segment.append(task.item.key, task.fingerprint, result)
        segment.close()

    def keys(self, gate: str) -> list[str]:
        return [key for name, key in self.calls if name == gate]


class Bench:
    """A study's assets, an instance, and the few questions that the tests ask."""

    def __init__(self, study: Study, instance: dg.DagsterInstance):
        self.study, self.instance = study, instance
        self.cluster = Pretended()
        self.reload()

    def reload(self) -> None:
        """As a reload of the code location does."""
        self.study = load_study(self.study.folder)
        self.scope = Scope(self.study)
        self.defs = dg.Definitions(assets=study_assets(self.scope), resources={"cluster": self.cluster})
        self.job = self.defs.resolve_implicit_global_asset_job_def()

    def partitions(self, name: str) -> list[str]:
        definition = self.defs.resolve_asset_graph().get(self.scope.key(name)).partitions_def
        return list(definition.get_partition_keys()) if definition else []

    def must(self, *names: str, **how) -> None:
        """A run that has to succeed; shows what went wrong in it."""
        result = self.run(*names, **how)
        failures = [e.step_failure_data for e in result.all_events if e.is_step_failure]
        assert result.success, [str(f.error and (f.error.cause or f.error)) for f in failures]

    def run(
        self, *names: str, keys: Sequence[str] | None = None, config: dict | None = None
    ) -> dg.ExecuteInProcessResult:
        """One run of the named assets over a range of partitions; all of them, if none are given."""
        keys = self.partitions(names[0]) if keys is None else keys
        tags = {ASSET_PARTITION_RANGE_START_TAG: keys[0], ASSET_PARTITION_RANGE_END_TAG: keys[-1]} if keys else {}
        ops = {self.scope.key(name).to_python_identifier(): {"config": config} for name in names if config}
        return self.job.execute_in_process(
            instance=self.instance,
            asset_selection=[self.scope.key(name) for name in names],
            tags=tags,
            run_config={"ops": ops, "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )

    def run_all(self) -> None:
        for name in ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report"):
            self.must(name)
        self.must("summary", keys=[])

    def status(self, name: str) -> tuple[set[str], set[str]]:
        """The partitions that the UI shows as materialised, and as failed."""
        key = self.scope.key(name)
        definition = self.scope.partitions.definitions[self._kind(name)]
        cache = get_and_update_asset_status_cache_value(self.instance, key, definition)
        assert cache is not None
        good = set(cache.deserialize_materialized_partition_subsets(definition).get_partition_keys())
        bad = set(cache.deserialize_failed_partition_subsets(definition).get_partition_keys())
        return good - bad, bad

    def in_progress(self, name: str) -> set[str]:
        """The partitions that the UI shows as in progress."""
        definition = self.scope.partitions.definitions[self._kind(name)]
        cache = get_and_update_asset_status_cache_value(self.instance, self.scope.key(name), definition)
        assert cache is not None
        return set(cache.deserialize_in_progress_partition_subsets(definition).get_partition_keys())

    def stale(self, name: str) -> set[str]:
        """The partitions that Dagster itself calls stale."""
        graph = self.defs.resolve_asset_graph()
        resolver = CachingStaleStatusResolver(self.instance, graph, LoadingContextForTest(self.instance))
        key = self.scope.key(name)
        found = {k: resolver.get_status(key, k).value for k in self.partitions(name)}
        assert set(found.values()) <= {"FRESH", "STALE"}, found
        return {k for k, status in found.items() if status == "STALE"}

    def events(self, name: str) -> dict[str, dg.AssetMaterialization]:
        """Each partition's last materialisation."""
        found: dict[str, dg.AssetMaterialization] = {}
        records = self.instance.fetch_materializations(self.scope.key(name), limit=1000, ascending=True).records
        for record in records:
            event = record.asset_materialization
            assert event is not None and event.partition is not None
            found[event.partition] = event
        return found

    def _kind(self, name: str):
        from sbench_dag.gate import Keys
        from sbench_dag.pipeline import find_gate

        return Keys.EPISODE if name == "report" else find_gate(name).keys


def failing(*keys: str, gate: str, why: Result | None = None) -> Judge:
    """Everything works but the named items of one gate, which are invalid."""
    bad = why or Result(Outcome.INVALID, Reason.WORKER_CRASHED, "killed its worker 2 times")

    def judge(name: str, key: str) -> Result:
        return bad if name == gate and key in keys else everything_works(name, key)

    return judge


def metadata(event: dg.AssetMaterialization) -> dict[str, object]:
    return {name: value.value for name, value in event.metadata.items()}


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    """The description of the failure that ended a run."""
    [event] = [event for event in result.all_events if event.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None and data.description is not None, event.step_failure_data.error
    return data.description


def without(keys: Collection[str], *others: str) -> set[str]:
    return set(keys) - set(others)


def touch(bench: Bench, episode: str) -> None:
    """A harmless change of an episode's content."""
    file = bench.study.dataset_path / "episodes" / episode / "meta.json"
    file.write_text(file.read_text() + "\n")
