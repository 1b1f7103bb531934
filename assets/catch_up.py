"""Which runs would bring a study up to date: the next ones only, because what comes after hangs on what they give."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from assets.in_flight import open_backfills, open_runs
from assets.memory import Memory
from assets.partitions import spans
from assets.run import STEPS
from assets.scope import Scope, partitions_of
from assets.staleness import Staleness, staleness, startable
from sbench_dag.files import write_whole
from sbench_dag.manipulation.gate import STAGE_C
from sbench_dag.stale import SUMMARY, Scan
from sbench_dag.stops import stopped_by
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import fingerprint

TRIES = 3
_ENDLESS = 10
_REMEMBERED_S = 30 * 24 * 3600.0
_REQUEST, _STEP, _TRY = "sbench/stale_request", "sbench/stale_step", "sbench/stale_try"


@dataclass
class NextRuns:
    """requests: the runs to launch now. notes: what is stale and waits, and for what."""

    requests: list[dg.RunRequest] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def next_runs(memory: Memory, scope: Scope, look: Callable[[], Scan]) -> NextRuns:
    """The first step, in the order of the pipeline, that has something to do; in as few runs as possible. A step that a
    run is at, or that comes after one, waits for it.

    memory: an earlier tick's saves reading it again. look: the scan. It comes after the question what is running: what
    ends in between would seem to be undone.

    What is invalid is not tried again: nothing of it has changed. Neither is what TRIES requests could not do, nor what
    somebody has cancelled.
    """
    found, name, instance = NextRuns(), scope.study.name, memory.instance
    memory.refresh([scope.key(step) for step in STEPS if step != SUMMARY])
    backfills = open_backfills(instance, scope)
    if backfills:
        found.notes.append(f"{name}: waits for backfill {', '.join(backfills)}")
        return found
    running = _running(instance, scope)
    scan = look()
    unknown = _unknown_partitions(scope, scan.study)
    if unknown:
        found.notes.append(f"{name}: {unknown} partitions are new; they wait for a reload of the code location")
    for step in STEPS:
        if step in running:
            found.notes.append(f"{name}: {step} is running ({running[step]})")
            return found
        state = staleness(memory, scope, scan, step)
        todo = state.stale & startable(scan, step) if state.stale else frozenset[str]()
        waiting = _stopped(scan, step, todo - state.harmless)
        if waiting:
            found.notes.append(f"{name}: {step} waits ({len(todo - state.harmless)} partitions): {waiting}")
            todo &= state.harmless
        if todo:
            _request(found, instance, scope, step, todo, state)
        if found.requests:
            return found
    return found


def _running(instance: dg.DagsterInstance, scope: Scope) -> dict[str, str]:
    """The steps that runs are at or will be, and one of these runs. A run that does not say is at all of them."""
    found: dict[str, str] = {}
    for run in open_runs(instance, scope):
        names = [key.path[-1] for key in run.asset_selection] if run.asset_selection else STEPS
        found |= dict.fromkeys(names, f"run {run.run_id}")
    return found


def _unknown_partitions(scope: Scope, study: Study) -> int:
    """How many partitions there are that the code location was loaded without."""
    now = partitions_of(study).keys
    return sum(len(set(keys) - set(scope.partitions.keys[kind])) for kind, keys in now.items())


def _stopped(scan: Scan, step: str, todo: Collection[str]) -> str:
    """What keeps Stage C from going on."""
    if step != STAGE_C.name or not todo:
        return ""
    members = partitions_of(scan.study).members[STAGE_C.keys]
    decision = stopped_by(scan, [key for name in todo for key in members[name]])
    return f"{decision.gate}: {decision.text}" if decision else ""


def _request(
    into: NextRuns,
    instance: dg.DagsterInstance,
    scope: Scope,
    step: str,
    todo: Collection[str],
    state: Staleness,
) -> None:
    name = f"{scope.study.name}: {step}"
    earlier = _unfinished_business(instance, scope, step, todo, state.versions)
    resting = {key for key, attempt in earlier.items() if attempt.rests}
    if resting:
        into.notes.append(f"{name} is left alone ({len(resting)} partitions): {earlier[min(resting)].why}")
    todo = set(todo) - resting
    if not todo:
        return
    tries = max((attempt.tries for key, attempt in earlier.items() if key in todo), default=0)
    ranges: list[Mapping[str, str]] = [{}]
    if step != SUMMARY:
        found = spans(state.order, todo, state.harmless)
        ranges = [{ASSET_PARTITION_RANGE_START_TAG: a, ASSET_PARTITION_RANGE_END_TAG: b} for a, b in found]
    note = _note(scope.study, {key: state.versions[key] for key in sorted(todo)})
    if _is_endless(instance, note, len(ranges)):
        into.notes.append(f"{name} is left alone for an hour: {_ENDLESS} requests of the same changed nothing")
        return
    tags = {_REQUEST: note, _STEP: scope.key(step).to_user_string(), _TRY: str(tries + 1)}
    into.requests += [dg.RunRequest(asset_selection=[scope.key(step)], tags={**tags, **span}) for span in ranges]
    into.notes.append(f"{name}: stale partitions: {len(todo)}, runs: {len(ranges)}")


def _is_endless(instance: dg.DagsterInstance, note: str, ranges: int) -> bool:
    """Whether runs succeed again and again and nothing comes of it, which nobody knows a reason for."""
    lately = dg.RunsFilter(tags={_REQUEST: note}, created_after=datetime.now(UTC) - timedelta(hours=1))
    return instance.get_runs_count(lately) >= _ENDLESS * ranges


# --- what earlier requests came to


@dataclass(frozen=True)
class _Attempt:
    """The latest attempt at a partition, which gave nothing, at the version that is wanted today."""

    run: dg.DagsterRun

    @property
    def tries(self) -> int:
        return int(self.run.tags[_TRY])

    @property
    def rests(self) -> bool:
        return self.run.status is dg.DagsterRunStatus.CANCELED or self.tries >= TRIES

    @property
    def why(self) -> str:
        if self.run.status is dg.DagsterRunStatus.CANCELED:
            return f"somebody cancelled run {self.run.run_id}; `retry_failed`, or a launch by hand, does it"
        return f"{TRIES} runs could not do it, the last one is {self.run.run_id}; `retry_failed` tries again"


def _unfinished_business(
    instance: dg.DagsterInstance, scope: Scope, step: str, todo: Collection[str], versions: Mapping[str, str]
) -> dict[str, _Attempt]:
    """By partition. Attempts that others than this sensor asked for don't count, nor those at other versions."""
    found: dict[str, _Attempt] = {}
    asked: dict[str, Mapping[str, str]] = {}
    for run, partitions in _fruitless(instance, scope, step, todo):
        request = run.tags.get(_REQUEST)
        if request is None:
            continue
        if request not in asked:
            asked[request] = _noted(scope.study, request)
        found |= {key: _Attempt(run) for key in partitions if asked[request].get(key) == versions[key]}
    return found


def _fruitless(
    instance: dg.DagsterInstance, scope: Scope, step: str, todo: Collection[str]
) -> list[tuple[dg.DagsterRun, list[str]]]:
    """The runs that were the latest attempt at partitions and materialised nothing, with those partitions."""
    key = scope.key(step)
    if step == SUMMARY:
        runs = instance.get_runs(dg.RunsFilter(tags={_STEP: key.to_user_string()}), limit=1)
        return [(run, [""]) for run in runs if not run.is_success]
    attempts = instance.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations
    by_run: dict[str, list[str]] = {}
    for partition, (run_id, _) in attempts(key).items():
        if partition in todo:
            by_run.setdefault(run_id, []).append(partition)
    runs = [(instance.get_run_by_id(run_id), partitions) for run_id, partitions in by_run.items()]
    return [(run, partitions) for run, partitions in runs if run is not None and run.is_finished]


def _note(study: Study, asked: Mapping[str, str]) -> str:
    """Remembers for a while which versions were asked for; the name of the note. Equal requests share one."""
    name, folder = fingerprint(asked), study.folder / "requests"
    folder.mkdir(exist_ok=True)
    write_whole(folder / f"{name}.json", json.dumps(asked))
    for old in folder.glob("*.json"):
        if time.time() - old.stat().st_mtime > _REMEMBERED_S:
            old.unlink(missing_ok=True)
    return name


def _noted(study: Study, name: str) -> Mapping[str, str]:
    """Of a note that is gone nothing is known, so what was asked for is asked for again."""
    file = study.folder / "requests" / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}
