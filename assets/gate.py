"""The one generator that all gates share: from the work items of a run to Dagster's events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from assets.code_version import code_version
from assets.episodes import episodes_input
from assets.events import Conclusion, Undone, materialize, plain_errors, requested_partitions
from assets.failures import last_failures
from assets.grouping import Finished, group
from assets.items import Show, item_metadata
from assets.numbers import gate_numbers
from assets.order import in_order
from assets.provenance import Input
from assets.scope import Scope, partitions_of
from assets.started_by import is_cancelled
from assets.tags import begin
from resources.cluster import ClusterResource
from sbench_dag.gate import Gate
from sbench_dag.pipeline import Fingerprints, find_gate, gates_before, items
from sbench_dag.reports.grid import Results
from sbench_dag.stops import StoppedError
from sbench_dag.study import Study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line, Store, missing

Batches = Callable[[Study, Sequence[str]], Iterable[tuple[str, Sequence[str]]]]
RunTasks = Callable[[Path, str, Sequence[Task]], Generator[Line | None, None, None]]
Checks = Callable[[Results], Iterable[dg.AssetCheckResult]]


@dataclass(frozen=True)
class GateRun:
    """What a gate adds to the common way.

    show: the metadata of a partition's event, from its stored line.
    batches: (gate, keys) in the order in which the missing may run; other gates' keys are run but not logged.
        StoppedError ends the run.
    checks: what is to be said about the study as it stands when the run is over.
    """

    gate: Gate
    show: Show
    batches: Batches | None = None
    checks: Checks = lambda results: []


def run_gate(context: dg.AssetExecutionContext, scope: Scope, cluster: ClusterResource, run: GateRun) -> Iterator[Any]:
    """Logs what the store knows already, runs the rest, and fails at the end if something has no result."""
    gate = run.gate
    parents = [Input(scope.key(up.name), scope.partitions.upstream(up.keys, gate.keys)) for up in gates_before(gate)]
    with plain_errors():
        study = begin(context, scope)
        fingerprints, members = Fingerprints(study), partitions_of(study).members[gate.keys]
        partitions, executed = requested_partitions(context), dict[str, Line]()
        there = [partition for partition in partitions if partition in members]
        inputs = [episodes_input(scope, gate.keys, there, fingerprints.content), *parents]
        keys = [key for partition in partitions for key in members.get(partition, ())]
        run_tasks = partial(cluster.run, is_cancelled=lambda: is_cancelled(context.instance, context.run_id))
        finished = finished_items(fingerprints, run_tasks, run, keys, executed)
        shown = partial(item_metadata, study, run.show)
        by_partition = group(finished, partitions, members, scope.partitions.by_episode, shown)
        conclude = partial(_conclusion, context.asset_key, study, run, keys, executed)
        version = code_version(fingerprints, gate.name)
        yield from materialize(context, version, inputs, in_order(by_partition, partitions), conclude)


def _conclusion(
    asset: dg.AssetKey, study: Study, run: GateRun, keys: Sequence[str], executed: Mapping[str, Line]
) -> Conclusion:
    """The study as it stands when the run is over; the store is read once for all that is said of it."""
    results = Results(study)
    numbers = gate_numbers(results, run.gate, keys, executed)
    return Conclusion(numbers, [*run.checks(results), last_failures(asset, results, run.gate)])


def finished_items(
    fingerprints: Fingerprints, run_tasks: RunTasks, run: GateRun, keys: Sequence[str], executed: dict[str, Line]
) -> Iterator[Finished | Undone | None]:
    """What becomes of each item, as it happens; None while nothing does. Notes what was `executed`."""
    gate, study = run.gate, fingerprints.study
    found = Store(study.results).results(gate.name, fingerprints.wanted(gate, keys))
    todo = missing(keys, found)
    left = set(todo)
    yield from (Finished(found[key], cached=True) for key in keys if key not in left)
    why = ("lost", "the cluster said nothing about it")
    try:
        for name, batch in run.batches(study, todo) if run.batches else [(gate.name, todo)]:
            for line in _lines(study, run_tasks, name, batch, fingerprints):
                if line is None:
                    yield None
                elif name == gate.name:
                    left.discard(line.key)
                    executed[line.key] = line
                    yield Finished(line, cached=False)
    except StoppedError as stop:
        why = (stop.decision.gate, str(stop))
    yield from (Undone(key, "not_run", *why) for key in todo if key in left)


def _lines(
    study: Study, run_tasks: RunTasks, gate: str, keys: Sequence[str], fingerprints: Fingerprints
) -> Iterator[Line | None]:
    """Runs keys of a gate, in the order of its partitions, so that each scene is built once."""
    wanted = set(keys)
    todo = [item for item in items(study, find_gate(gate)) if item.key in wanted]
    tasks = [Task(item, fingerprints.of(gate, item.key)) for item in todo]
    with closing(run_tasks(study.folder, gate, tasks)) as lines:
        yield from lines
