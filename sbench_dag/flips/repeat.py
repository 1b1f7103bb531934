"""Does what a sample asks for: Stage B and Stage C again, by the same code, into a store of their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from sbench_dag.cluster.alone import Alone
from sbench_dag.cluster.base import Cluster
from sbench_dag.pipeline import Fingerprints, find_gate, items
from sbench_dag.study import Study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Store, missing

REPEATED = ("stage_b", "stage_c")


def steps(study: Study) -> int:
    """How many items a repeat has."""
    return sum(len(items(study, find_gate(gate))) for gate in REPEATED)


def run_repeat(study: Study, cluster: Cluster, progress: Callable[[int], object]) -> None:
    """What is missing of the repeat. progress: called with how many more items are done.

    study: the repeat's own.
    """
    for gate in REPEATED:
        tasks = _tasks(study, gate)
        progress(len(items(study, find_gate(gate))) - len(tasks))
        with closing(Alone(cluster).run(study.folder, gate, tasks)) as lines:
            for line in lines:
                progress(line is not None)


def _tasks(study: Study, gate: str) -> list[Task]:
    wanted = Fingerprints(study).wanted(find_gate(gate))
    todo = set(missing(wanted, Store(study.results).results(gate, wanted)))
    return [Task(item, wanted[item.key]) for item in items(study, find_gate(gate)) if item.key in todo]
