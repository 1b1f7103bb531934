"""The grid: success rates per cell with their denominators, over all queries and per stratum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sbench_dag.dataset.answers import BLIND
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.plans.expand import CellResult, expand
from sbench_dag.plans.plan import ORACLE, Plan
from sbench_dag.stats.intervals import wilson
from sbench_dag.study import Study
from sbench_dag.work.store import Line, Store, stamp

STRATA: Mapping[str, Callable[[Plan], str]] = {
    "kind": lambda plan: plan.kind.removeprefix("find_"),
    "steps": lambda plan: plan.steps,
    "scoring": lambda plan: plan.scoring,
    "twin": lambda plan: "twin" if plan.twin else "no twin",
    "floor": lambda plan: "on the floor" if plan.floor else "on furniture",
}


class Results:
    """Today's stored results of a study, by gate and key."""

    def __init__(self, study: Study):
        self.study = study
        self._store = Store(study.results)
        self.fingerprints = Fingerprints(study)
        self._gates: dict[str, dict[str, Line]] = {}

    def of(self, gate: str) -> dict[str, Line]:
        if gate not in self._gates:
            self._gates[gate] = self._store.results(gate, self.fingerprints.wanted(find_gate(gate)))
        return self._gates[gate]

    def look(self, gate: str, key: str) -> str:
        """A text that changes whenever today's stored result of a key does."""
        line = self.of(gate).get(key)
        return stamp(line.fingerprint, line.outcome, line.result.reason, line.result.message) if line else ""

    def cells(self) -> list[CellResult]:
        return expand(self.study.manifest, self.of("stage_b"), self.of("stage_c"))


def make_grid(results: Results) -> dict[str, Any]:
    """The grid as plain JSON: what `sbench grid --json` prints and the page shows."""
    study = results.study
    cells = results.cells()
    _refuse_gaps(cells)
    labels = [line.row["label"] for line in results.of("rollout_rewards").values() if "label" in line.row]
    return {
        "study": study.name,
        "profile": study.dataset.info.profile,
        "revision": study.revision,
        "synthetic": study.dataset.info.synthetic,
        "problems": list(study.manifest.problems),
        "cells": _per_source(cells),
        "strata": [
            {"axis": axis, "value": value, "cells": _per_source(members)} for axis, value, members in _strata(cells)
        ],
        "labels": {str(score): count for score, count in sorted(Counter(labels).items())},
    }


def _refuse_gaps(cells: Iterable[CellResult]) -> None:
    """A source that lacks a query has another denominator than the others, and its rates mean something else."""
    queries: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for c in cells:
        queries[c.cell.source].add((c.cell.episode, c.cell.query))
    everything = set[tuple[str, str]]().union(*queries.values())
    for source, mine in queries.items():
        if mine != everything:
            counts = f"{len(mine)} of {len(everything)} queries"
            raise SetupError(f"{source} has {counts} in the manifest; `sbench study create` rebuilds it")


def _strata(cells: Iterable[CellResult]) -> list[tuple[str, str, list[CellResult]]]:
    found: dict[tuple[str, str], list[CellResult]] = defaultdict(list)
    for cell in cells:
        for axis, value_of in STRATA.items():
            value = "unreadable" if cell.question is None else str(value_of(cell.question))
            found[axis, value].append(cell)
    order = list(STRATA)
    return [(axis, value, found[axis, value]) for axis, value in sorted(found, key=lambda k: (order.index(k[0]), k[1]))]


def _per_source(cells: Iterable[CellResult]) -> list[dict[str, Any]]:
    by_source: dict[str, list[CellResult]] = defaultdict(list)
    for cell in cells:
        by_source[cell.cell.source].append(cell)
    # the ceiling first, the floor last
    order = sorted(by_source, key=lambda source: (source != ORACLE, source == BLIND, source))
    return [_summarise(source, by_source[source]) for source in order]


def _summarise(source: str, cells: list[CellResult]) -> dict[str, Any]:
    abstained = sum(c.cell.abstained for c in cells)
    invalid = sum(c.outcome is Outcome.INVALID for c in cells)
    not_run = sum(c.outcome is Outcome.NOT_RUN for c in cells)
    done = sum(c.outcome.is_result and not c.cell.abstained for c in cells)
    picks = [c for c in cells if c.is_pick]
    reached, lifted = [c for c in picks if c.reached], [c for c in picks if c.lifted]
    return {
        "source": source,
        "synthetic": any(c.cell.synthetic for c in cells),
        "planned": len(cells),
        "abstained": abstained,
        "done": done,
        "invalid": invalid,
        "not_run": not_run,
        "reached": sum(bool(c.reached) for c in cells),
        "picks": {
            "planned": len(picks),
            "reached": len(reached),
            "lifted": len(lifted),
            "lifted_held": sum(bool(c.lifted_held) for c in picks),
        },
        "sr_b": _rate([c.reached for c in cells]),
        "sr_c": _rate([c.lifted for c in picks]),
        "sr_c_held": _rate([c.lifted_held for c in picks]),
        "p_reached": _rate([c.reached for c in picks]),
        "p_lifted_given_reached": _rate([c.lifted for c in reached]),
        "loc_set": _rate([c.cell.loc_set for c in cells]),
        "outcomes": dict(sorted(Counter(c.label for c in cells).items())),
    }


def _rate(values: list[bool | None]) -> dict[str, Any]:
    """Over all planned (what is unknown counts as a failure), and over the completed alone."""
    known = [value for value in values if value is not None]
    rate = wilson(sum(known), len(values))
    completed = sum(known) / len(known) if known else None
    return {
        "rate": rate.rate,
        "low": rate.low,
        "high": rate.high,
        "rate_completed": completed,
        "count": rate.count,
        "planned": len(values),
        "completed": len(known),
    }
