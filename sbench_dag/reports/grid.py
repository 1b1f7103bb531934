"""The grid: everything that the page says in numbers."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.plans.expand import CellResult, expand
from sbench_dag.reports.headline import headline
from sbench_dag.reports.matrix import Matrix, make_matrix
from sbench_dag.reports.pairs import pairs
from sbench_dag.reports.rates import by_house, summarise
from sbench_dag.study import Study
from sbench_dag.work.store import Line, Store, stamp

STRATUM_RESAMPLES = 2_000
"""Enough for an interval; ten strata of a large study would take long with more."""


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

    @cached_property
    def matrix(self) -> Matrix:
        return make_matrix(self.cells())


def make_grid(results: Results) -> dict[str, Any]:
    """The grid as plain JSON: what `sbench grid --json` prints and the page shows."""
    study = results.study
    matrix = results.matrix
    cells, compared = summarise(matrix), pairs(matrix)
    labels = [line.row["label"] for line in results.of("rollout_rewards").values() if "label" in line.row]
    return {
        "study": study.name,
        "profile": study.dataset.info.profile,
        "revision": study.revision,
        "synthetic": study.dataset.info.synthetic,
        "problems": list(study.manifest.problems),
        "queries": len(matrix.queries),
        "picks": int(matrix.picks.sum()),
        "houses": len(set(matrix.houses)),
        "headline": headline(cells, compared),
        "cells": cells,
        "strata": [
            {"axis": axis, "value": value, "cells": summarise(members, STRATUM_RESAMPLES)}
            for axis, value, members in matrix.strata()
        ],
        "pairs": compared,
        "by_house": by_house(matrix),
        "labels": {str(score): count for score, count in sorted(Counter(labels).items())},
    }
