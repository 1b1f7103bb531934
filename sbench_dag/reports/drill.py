"""What stands behind every number of the page, small enough to travel with it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any

from markupsafe import Markup

from sbench_dag.plans.expand import CellResult
from sbench_dag.reports.losses import stage_of
from sbench_dag.reports.matrix import STRATA, Matrix
from sbench_dag.reports.rows import PlanRow


def drill_data(matrix: Matrix, plans: Iterable[PlanRow]) -> Markup:
    """JSON for a script element. Every cell names its source, query, plan, label and stage by their index.

    cells: [source, query, plan or -1, label, stage, reached, lifted, loc_set]; the last three 1, 0, or -1 for unknown.
    queries: [episode, query, text, is a pick, index of each stratum]. plans: [key, places, video or "", label or 0].
    """
    labels, stages, strata = _Index(), _Index(), {axis: _Index() for axis in STRATA}
    rows = list(plans)
    plan_index = {row.plan.key: i for i, row in enumerate(rows)}
    data: dict[str, Any] = {
        "cells": [
            [
                s,
                q,
                plan_index.get(cell.cell.plan or "", -1),
                labels.of(cell.label),
                stages.of(str(stage_of(cell))),
                *(-1 if known is None else int(known) for known in _known(cell)),
            ]
            for q, row in enumerate(matrix.cells)
            for s, cell in enumerate(row)
        ],
        "queries": [
            [q.episode, q.query, q.text, int(q.is_pick), *(strata[axis].of(q.strata[axis]) for axis in STRATA)]
            for q in matrix.queries
        ],
        "plans": [[row.plan.key, row.places, row.video or "", row.label or 0] for row in rows],
        "sources": matrix.sources,
        "labels": labels.names,
        "stages": stages.names,
        "strata": {axis: index.names for axis, index in strata.items()},
    }
    # a closing tag in a text would end the script element
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _known(cell: CellResult) -> tuple[bool | None, bool | None, bool | None]:
    return cell.reached, cell.lifted, cell.cell.loc_set


class _Index:
    """Numbers names as they come."""

    def __init__(self):
        self._found: dict[Hashable, int] = {}

    def of(self, name: str) -> int:
        return self._found.setdefault(name, len(self._found))

    @property
    def names(self) -> list[Any]:
        return list(self._found)
