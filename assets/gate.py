"""The one generator that all gates share: from the work items of a run to Dagster's events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from assets.events import Conclusion, Done, Undone, materialize, plain_errors
from assets.failures import last_failures
from assets.numbers import gate_numbers
from assets.order import in_order
from assets.provenance import Input
from assets.scope import Scope
from assets.started_by import is_cancelled
from assets.tags import begin
from resources.cluster import ClusterResource
from sbench_dag.gate import Gate
from sbench_dag.pipeline import Fingerprints, find_gate, gates_before, items
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.grid import Results
from sbench_dag.stops import StoppedError
from sbench_dag.study import Study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line, Store, missing

Show = Callable[[Study, Line], Mapping[str, Any]]
Batches = Callable[[Study, Sequence[str]], Iterable[tuple[str, Sequence[str]]]]
RunTasks = Callable[[Path, str, Sequence[Task]], Generator[Line | None, None, None]]
Checks = Callable[[Results], Iterable[dg.AssetCheckResult]]

_GONE = "the manifest has changed and no longer names it; reload the code location"


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
        keys, executed = context.partition_keys, dict[str, Line]()
        run_tasks = partial(cluster.run, is_cancelled=lambda: is_cancelled(context.instance, context.run_id))
        finished = in_order(_finished(study, run_tasks, run, keys, executed), keys)
        conclude = partial(_conclusion, context.asset_key, study, run, keys, executed)
        yield from materialize(context, parents, finished, conclude)


def _conclusion(
    asset: dg.AssetKey, study: Study, run: GateRun, keys: Sequence[str], executed: Mapping[str, Line]
) -> Conclusion:
    """The study as it stands when the run is over; the store is read once for all that is said of it."""
    results = Results(study)
    numbers = gate_numbers(results, run.gate, keys, executed)
    return Conclusion(numbers, [*run.checks(results), last_failures(asset, results, run.gate)])


def _finished(
    study: Study, run_tasks: RunTasks, run: GateRun, keys: Sequence[str], executed: dict[str, Line]
) -> Iterator[Done | Undone | None]:
    """What becomes of each requested key, as it happens; None while nothing does. Notes what was `executed`."""
    gate, plans = run.gate, study.manifest.by_key
    there = {item.key for item in items(study, gate)}
    fingerprints = Fingerprints(study)
    known = [key for key in keys if key in there]
    yield from (Undone(key, "not_run", "unknown", _GONE) for key in keys if key not in there)
    found = Store(study.results).results(gate.name, fingerprints.wanted(gate, known))
    todo = missing(known, found)
    left = set(todo)
    yield from (_item(study, run, plans.get(key), found[key], cached=True) for key in known if key not in left)
    why = ("lost", "the cluster said nothing about it")
    try:
        for name, batch in run.batches(study, todo) if run.batches else [(gate.name, todo)]:
            for line in _lines(study, run_tasks, name, batch, fingerprints):
                if line is None:
                    yield None
                elif name == gate.name:
                    left.discard(line.key)
                    executed[line.key] = line
                    yield _item(study, run, plans.get(line.key), line, cached=False)
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


def _item(study: Study, run: GateRun, plan: Plan | None, line: Line, cached: bool) -> Done | Undone:
    """plan: the key's, or None where the gate's partitions are episodes."""
    result = line.result
    if not result.outcome.is_result:
        return Undone(line.key, str(result.outcome), str(result.reason), result.message)
    metadata = {
        "outcome": str(result.outcome),
        "cached": cached,
        **({"reason": str(result.reason)} if result.reason else {}),
        **({"message": result.message} if result.message else {}),
        **result.timings,
        **(_asked(plan) if plan else {}),
        **run.show(study, line),
        "finished": dg.MetadataValue.timestamp(line.finished),
        "host": line.host,
        **_origin(line),
    }
    return Done(line.key, line.fingerprint, metadata)


def _origin(line: Line) -> dict[str, Any]:
    """The Slurm task that computed it, if one did."""
    names = {"id": "slurm job", "node": "node", "state": "slurm state", "queue_s": "queue_s", "run_s": "run_s"}
    found = {shown: line.origin[name] for name, shown in names.items() if name in line.origin}
    if "log" in line.origin:
        found["log"] = dg.MetadataValue.path(line.origin["log"])
    if "max_rss_mib" in line.origin:
        found["max_rss_mib"] = line.origin["max_rss_mib"]
    return found


def _asked(plan: Plan) -> dict[str, str]:
    """The question and the answer, so that nobody has to decipher a plan's key."""
    places = "; ".join(f"{s.category}: {s.surface}, {s.room or 'any room'}" for s in plan.selections)
    return {"question": plan.text, "answer": places, "given by": ", ".join(plan.sources)}
