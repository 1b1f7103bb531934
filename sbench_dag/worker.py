"""Runs items of a gate, one after the other, and stores what became of each. Every cluster runs this."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sbench_dag.context import Context, OutdatedError
from sbench_dag.errors import InvalidError, SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import find_gate
from sbench_dag.study import load_study
from sbench_dag.work.item import Result, Task
from sbench_dag.work.store import Line


class Worker:
    """One per process."""

    def __init__(self, study: Path, gate: str):
        """
        Raises:
            SetupError: this environment can't run the study.
        """
        self.gate = find_gate(gate)
        self.context = Context(load_study(study))
        self.segment = self.context.store.segment(gate)

    def run_batch(self, tasks: Sequence[Task]) -> list[Line]:
        """Their stored lines. What can't be prepared comes up again in the items that need it."""
        if self.gate.prepare:
            with suppress(Exception):
                self.gate.prepare(self.context, [task.item for task in tasks])
        return [self.run(task) for task in tasks]

    def run(self, task: Task) -> Line:
        """The stored line. Whatever goes wrong with the item becomes a line too."""
        started = time.perf_counter()
        made_of: dict[str, str] = {}
        try:
            made_of = self._inputs(task)
            result = self.context.run(self.gate, task.item)
        except OutdatedError as error:
            result = Result(Outcome.NOT_RUN, Reason.INPUT_CHANGED, str(error))
        except SetupError as error:
            result = Result(Outcome.NOT_RUN, Reason.UPSTREAM_MISSING, str(error))
        except InvalidError as error:
            result = Result(Outcome.INVALID, error.reason, str(error))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
            result = Result(Outcome.INVALID, Reason.HARNESS_ERROR, text, {"traceback": traceback.format_exc()})
        timings = {**result.timings, "total_s": round(time.perf_counter() - started, 3)}
        return self.segment.append(task.item.key, task.fingerprint, replace(result, timings=timings), made_of)

    def _inputs(self, task: Task) -> dict[str, str]:
        """What the result will be made of. A task may wait for days, and its inputs change meanwhile."""
        fingerprints, key = self.context.fingerprints, task.item.key
        try:
            if fingerprints.of(self.gate.name, key) == task.fingerprint:
                return fingerprints.parts(self.gate.name, key)
        except KeyError:
            pass  # the manifest no longer names it
        raise OutdatedError
