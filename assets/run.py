"""Materialises gate after gate in this process, into the instance that the UI shows."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from assets.events import step_failure_text
from assets.instance import process_tags
from assets.memory import Memory
from assets.of_study import study_assets
from assets.partitions import spans
from assets.reward_bench import models_to_score
from assets.scope import Scope
from assets.staleness import keys_of, ready, staleness
from assets.started_by import is_cancelled
from resources.cluster import ClusterResource
from sbench_dag.errors import SbenchError
from sbench_dag.pipeline import GATES
from sbench_dag.rewards.bench.gate import REWARD_BENCH
from sbench_dag.rewards.gate import ROLLOUT_REWARDS
from sbench_dag.stale import REPORT, SUMMARY, Scanner
from sbench_dag.study import Study

STEPS = (*(gate.name for gate in GATES), REPORT, SUMMARY)
BENCH = REWARD_BENCH.name
RESCORE = (ROLLOUT_REWARDS.name, REPORT, SUMMARY, BENCH)


@dataclass(frozen=True)
class Request:
    """steps: those to run, in STEPS' order, and BENCH. plans: a pattern of plan keys. overrides: of stage_c's config.

    only_failed: the partitions whose latest attempt failed, and the report. only_ready: not those that wait for an
    earlier gate. always_summary: also if it is fresh, so that its age says when somebody last looked.
    """

    steps: Sequence[str] = STEPS
    plans: str = "*"
    overrides: dict[str, str] = field(default_factory=dict)
    only_failed: bool = False
    only_ready: bool = False
    always_summary: bool = False


class Runner:
    """Runs the steps of one study, each only where it has to be. `failures`: why a step could not finish.

    say: takes a line for the user. tags: for each run.
    """

    def __init__(
        self,
        instance: dg.DagsterInstance,
        study: Study,
        cluster: ClusterResource,
        say: Callable[[str], None] = print,
        tags: Mapping[str, str] | None = None,
    ):
        self._instance, self._say, self._tags = instance, say, {**process_tags(), **(tags or {})}
        self._scope = Scope(study)
        self._scanner = Scanner(study.folder)
        defs = dg.Definitions(assets=study_assets(self._scope), resources={"cluster": cluster})
        self._job = defs.resolve_implicit_global_asset_job_def()
        self.failures: list[str] = []

    def run(self, request: Request) -> None:
        for step in request.steps:
            if step == SUMMARY:
                self._summary(request)
            elif step == BENCH:
                self._bench(request)
            else:
                self._partitions(step, request)

    def selected(self, step: str, pattern: str) -> set[str]:
        """The partitions of a step that a pattern of plan keys selects; of an episode's if any of its plans does."""
        partitions, keys = self._scope.partitions, keys_of(step)
        if pattern == "*":
            return set(partitions.keys[keys])
        plans = set(fnmatch.filter((entry.key for entry in self._scope.study.manifest.entries), pattern))
        episodes = {partitions.episode_of[plan] for plan in plans}
        return {name for name in partitions.keys[keys] if name in plans or name in episodes}

    def _partitions(self, step: str, request: Request) -> None:
        scan = self._scanner.scan()
        state = staleness(Memory(self._instance), self._scope, scan, step)
        selected = self.selected(step, request.plans)
        if request.only_ready:
            selected &= ready(scan, step)
        wanted = state.failed if request.only_failed and step != REPORT else state.stale | state.invalid
        todo = wanted & selected
        self._say(f"{step}: {len(todo)} of {len(selected)} to do" if todo else f"{step}: up to date ({len(selected)})")
        for first, last in spans(state.order, todo, state.harmless):
            tags = {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: last}
            self._execute(step, tags, self._config(step, request))

    def _summary(self, request: Request) -> None:
        memory = Memory(self._instance)
        stale = request.always_summary or staleness(memory, self._scope, self._scanner.scan(), SUMMARY).stale
        self._say(f"{SUMMARY}: {'to do' if stale else 'up to date'}")
        if stale:
            self._execute(SUMMARY, {}, {})

    def _bench(self, request: Request) -> None:
        """A run for each model, so that none waits for another. A study without a benchmark has nothing to do."""
        models = self._scope.study.rewards.benchmarked
        if not models:
            self._say(
                f"{BENCH}: nothing to do; [rewards] bench in study.toml names a benchmark, and models who scores it"
            )
            return
        try:
            todo = models_to_score(self._instance, self._scope)
        except SbenchError as error:
            self.failures.append(f"{BENCH}: {error}")
            return
        if request.only_failed:
            definition = dg.StaticPartitionsDefinition(models)
            todo = sorted(Memory(self._instance).of(self._scope.key(BENCH), definition).failed)
        self._say(f"{BENCH}: {len(todo)} of {len(models)} to do" if todo else f"{BENCH}: up to date ({len(models)})")
        for name in todo:
            self._execute(BENCH, {ASSET_PARTITION_RANGE_START_TAG: name, ASSET_PARTITION_RANGE_END_TAG: name}, {})

    def _config(self, step: str, request: Request) -> dict[str, Any]:
        if step != "stage_c" or not request.overrides:
            return {}
        return {"ops": {self._scope.key(step).to_python_identifier(): {"config": request.overrides}}}

    def _execute(self, step: str, tags: dict[str, str], config: dict[str, Any]) -> None:
        result = self._job.execute_in_process(
            instance=self._instance,
            asset_selection=[self._scope.key(step)],
            tags={**self._tags, **tags},
            run_config={**config, "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
        if _was_interrupted(result):
            self._tell_if_cancelled(result.run_id)
            raise KeyboardInterrupt
        if not result.success:
            self.failures.append(f"{step}: {_why(result)}")

    def _tell_if_cancelled(self, run_id: str) -> None:
        """A run that ended because somebody terminated the job that started it has not failed."""
        run = self._instance.get_run_by_id(run_id)
        if run and is_cancelled(self._instance, run_id):
            self._instance.report_run_canceled(run)


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Dagster takes Ctrl-C for the failure of a step."""
    failures = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return any(error and error.cls_name == "DagsterExecutionInterruptedError" for error in failures)


def _why(result: dg.ExecuteInProcessResult) -> str:
    """What the step's failure says, and where the traceback is if it is ours."""
    failed = next((event for event in result.all_events if event.is_step_failure), None)
    if failed is None:
        return f"run {result.run_id} failed before its step; the UI has the log"
    text = step_failure_text(failed)
    is_said_on_purpose = failed.step_failure_data.user_failure_data is not None
    return text if is_said_on_purpose else f"{text} (run {result.run_id} in the UI has the traceback)"
