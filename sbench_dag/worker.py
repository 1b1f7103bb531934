"""What runs inside a shard: `python -m sbench_dag.worker SHARD.json`.

A shard is a file: {"study": folder, "gate": name, "items": [{"key", "group", "cost", "fingerprint"}]}. The worker
runs its items in order, appends a line for each, and skips those that already have a result.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbench_dag.context import Context
from sbench_dag.errors import InvalidError, SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import find_gate
from sbench_dag.study import load_study
from sbench_dag.work.item import Result, WorkItem
from sbench_dag.work.store import Line, missing


@dataclass(frozen=True)
class Task:
    """One item and the fingerprint that its result will have."""

    item: WorkItem
    fingerprint: str


@dataclass(frozen=True)
class Shard:
    """Tasks of one gate for one worker."""

    study: Path
    gate: str
    tasks: tuple[Task, ...]

    def write(self, file: Path) -> None:
        items = [{**vars(task.item), "fingerprint": task.fingerprint} for task in self.tasks]
        file.write_text(json.dumps({"study": str(self.study), "gate": self.gate, "items": items}))

    @classmethod
    def read(cls, file: Path) -> Shard:
        data = json.loads(file.read_text())
        tasks = [Task(WorkItem(i["key"], i["group"], i["cost"]), i["fingerprint"]) for i in data["items"]]
        return cls(Path(data["study"]), data["gate"], tuple(tasks))


class Worker:
    """Runs items of one gate, one after the other, and stores what became of each."""

    def __init__(self, study: Path, gate: str):
        self.gate = find_gate(gate)
        self.context = Context(load_study(study))
        self.segment = self.context.store.segment(gate)

    def run(self, task: Task) -> Line:
        """The stored line. Whatever goes wrong with the item becomes a line too."""
        started = time.perf_counter()
        try:
            result = self.gate.run(self.context, task.item)
        except SetupError as error:
            result = Result(Outcome.NOT_RUN, Reason.UPSTREAM_MISSING, str(error))
        except InvalidError as error:
            result = Result(Outcome.INVALID, error.reason, str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            result = Result(Outcome.INVALID, Reason.HARNESS_ERROR, text, {"traceback": traceback.format_exc()})
        timings = {**result.timings, "total_s": round(time.perf_counter() - started, 3)}
        return self.segment.append(task.item.key, task.fingerprint, replace(result, timings=timings))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sbench_dag.worker", description=__doc__)
    parser.add_argument("shard", type=Path, help="the shard's JSON file")
    shard = Shard.read(parser.parse_args(argv).shard)
    worker = Worker(shard.study, shard.gate)
    wanted = {task.item.key: task.fingerprint for task in shard.tasks}
    todo = set(missing(wanted, worker.context.store.results(shard.gate, wanted)))
    for task in shard.tasks:
        if task.item.key in todo:
            line = worker.run(task)
            print(
                f"{line.key}: {line.outcome}{f' ({line.result.reason})' if line.result.reason else ''}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
