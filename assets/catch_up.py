"""Which runs would bring a study up to date: the next ones only, because what comes after hangs on what they give."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from assets.in_flight import open_backfills
from assets.partitions import spans
from assets.run import STEPS
from assets.scope import Scope
from assets.staleness import Staleness, staleness, startable
from sbench_dag.manipulation.gate import STAGE_C
from sbench_dag.reports.grid import Results
from sbench_dag.stale import SUMMARY, Scan
from sbench_dag.stops import stopped_by
from sbench_dag.work.fingerprint import combine

TRIES = 3
_STEP, _WORK, _TRY = "sbench/stale_step", "sbench/stale", "sbench/stale_try"
_LOOK_BACK = 100


@dataclass
class Plan:
    """requests: the runs to launch now. notes: what is stale and waits, and for what."""

    requests: list[dg.RunRequest] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def next_runs(instance: dg.DagsterInstance, scope: Scope, scan: Scan) -> Plan:
    """The first step, in the order of the pipeline, that has something to do; in as few runs as possible.

    What is invalid is not tried again: nothing of it has changed. Neither is what TRIES runs could not do, nor what
    somebody has cancelled.
    """
    plan, name = Plan(), scope.study.name
    backfills = open_backfills(instance, scope)
    if backfills:
        plan.notes.append(f"{name}: waits for backfill {', '.join(backfills)}")
        return plan
    for step in STEPS:
        state = staleness(instance, scope, scan, step)
        todo = state.stale - state.running
        if todo:
            todo &= startable(scan, step)
        if todo and step == STAGE_C.name and (decision := stopped_by(Results(scan.study))):
            plan.notes.append(f"{name}: {step} waits ({len(todo)} partitions): {decision.gate}: {decision.text}")
            todo = frozenset()
        if todo:
            _request(plan, instance, scope, step, todo, state)
        if plan.requests:
            return plan
        if state.running:
            plan.notes.append(f"{name}: {step} is running ({len(state.running)} partitions)")
            return plan
    return plan


def _request(
    plan: Plan,
    instance: dg.DagsterInstance,
    scope: Scope,
    step: str,
    todo: Collection[str],
    state: Staleness,
) -> None:
    work = combine([scope.study.name, step, *sorted(f"{key} {state.versions[key]}" for key in todo)])
    where = scope.key(step).to_user_string()
    tried, why_not = _earlier_tries(instance, where, work)
    if why_not:
        plan.notes.append(f"{scope.study.name}: {step} ({len(todo)} partitions) is left alone: {why_not}")
        return
    tags = {_STEP: where, _WORK: work, _TRY: str(tried + 1)}
    ranges: list[Mapping[str, str]] = [{}]
    if step != SUMMARY:
        found = spans(state.order, todo, state.harmless - state.running)
        ranges = [{ASSET_PARTITION_RANGE_START_TAG: a, ASSET_PARTITION_RANGE_END_TAG: b} for a, b in found]
    plan.requests += [dg.RunRequest(asset_selection=[scope.key(step)], tags={**tags, **span}) for span in ranges]
    plan.notes.append(f"{scope.study.name}: {step}: stale partitions: {len(todo)}, runs: {len(ranges)}")


def _earlier_tries(instance: dg.DagsterInstance, step: str, work: str) -> tuple[int, str]:
    """How often this very work was requested just now, and why not to do so again. Other work in between clears it."""
    runs = instance.get_runs(dg.RunsFilter(tags={_STEP: step}), limit=_LOOK_BACK)
    runs = list(takewhile(lambda run: run.tags[_WORK] == work, runs))
    if any(run.status is dg.DagsterRunStatus.CANCELED for run in runs):
        return 0, "somebody cancelled its run; `retry_failed`, or a launch by hand, does it"
    tried = max((int(run.tags[_TRY]) for run in runs), default=0)
    if tried >= TRIES:
        return tried, f"{TRIES} runs could not do it, the last one is {runs[0].run_id}; `retry_failed` tries again"
    return tried, ""
