"""Running gates of a study in this process, and what came of them."""

from __future__ import annotations

from sbench_dag.pipeline import GATES, Fingerprints, find_gate, items
from sbench_dag.study import Study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line, Store, missing
from sbench_dag.worker import Worker


def tasks_of(study: Study, gate: str) -> list[Task]:
    """The tasks of a gate that have no result yet."""
    fingerprints = Fingerprints(study)
    wanted = fingerprints.wanted(find_gate(gate))
    todo = set(missing(wanted, Store(study.results).results(gate, wanted)))
    return [Task(item, wanted[item.key]) for item in items(study, find_gate(gate)) if item.key in todo]


def run_here(study: Study, *gates: str) -> dict[str, list[Line]]:
    """Runs what is missing of the gates (all, if none is named) in this process."""
    done = {}
    for gate in gates or [g.name for g in GATES]:
        worker = Worker(study.folder, gate)
        done[gate] = [worker.run(task) for task in tasks_of(study, gate)]
    return done


def rows_of(study: Study, gate: str) -> dict[str, tuple]:
    """What must be the same whoever ran it: everything but timings, host and date."""
    lines = Store(study.results).results(gate, Fingerprints(study).wanted(find_gate(gate)))
    return {
        key: (line.fingerprint, line.outcome, line.result.reason, line.result.message, line.row)
        for key, line in lines.items()
    }
