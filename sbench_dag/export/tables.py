"""The tables that can be exported, as data frames. What they say was computed for the report; here it gets columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from sbench_dag.errors import SetupError
from sbench_dag.plans.expand import CellResult
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.matrix import STRATA, UNREADABLE, house_of, named
from sbench_dag.reports.rows import PlanRow, plan_rows


def grid_table(results: Results) -> pl.DataFrame:
    """A row per source: counts, then each rate with its interval's ends and its denominators."""
    return _frame([_flat(cell) for cell in make_grid(results)["cells"]])


def strata_table(results: Results) -> pl.DataFrame:
    """A row per stratum and source, with the grid's columns."""
    return _frame(
        [
            {"axis": stratum["axis"], "value": stratum["value"], **_flat(cell)}
            for stratum in make_grid(results)["strata"]
            for cell in stratum["cells"]
        ]
    )


def pairs_table(results: Results) -> pl.DataFrame:
    """A row per two sources and rate: how they compare on the same queries."""
    pairs = make_grid(results)["pairs"]
    if not pairs:
        raise SetupError(f"{results.study.name}: there are no pairs, because it has fewer than two sources")
    return _frame([_flat(pair) for pair in pairs])


def cells_table(results: Results) -> pl.DataFrame:
    """A row per source and query: what it said, and what became of that. Null: nothing is known."""
    return _frame([_cell(cell) for cell in results.cells()])


def plans_table(results: Results) -> pl.DataFrame:
    """A row per plan: what is executed once, whoever said it."""
    return _frame([_plan(row) for row in plan_rows(results)])


TABLES: Mapping[str, Callable[[Results], pl.DataFrame]] = {
    "grid": grid_table,
    "strata": strata_table,
    "cells": cells_table,
    "plans": plans_table,
    "pairs": pairs_table,
}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers within become columns: `sr_b` with `rate` and `low` becomes `sr_b_rate` and `sr_b_low`."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}_{inner}".replace(" ", "_"): found for inner, found in _flat(value).items()}
        else:
            flat[name] = value
    return flat


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Outcomes come last: which there are hangs on the results. A source without one has 0 of it."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    counts = [name for name in frame.columns if name.startswith("outcomes_")]
    return frame.select(pl.exclude(counts), *(pl.col(name).fill_null(0) for name in sorted(counts)))


def _cell(found: CellResult) -> dict[str, Any]:
    cell, plan = found.cell, found.question
    return {
        "source": cell.source,
        **named(cell.source),
        "synthetic": cell.synthetic,
        "episode": cell.episode,
        "house": house_of(cell.episode),
        "query": cell.query,
        "text": plan.text if plan else None,
        **{axis: str(value_of(plan)) if plan else UNREADABLE for axis, value_of in STRATA.items()},
        "outcome": "abstained" if cell.abstained else str(found.outcome),
        "reason": str(found.reason) if found.reason else None,
        "reached": found.reached,
        "lifted": found.lifted,
        "lifted_held": found.lifted_held,
        "loc_set": cell.loc_set,
        "plan": cell.plan,
    }


def _plan(row: PlanRow) -> dict[str, Any]:
    plan = row.plan
    return {
        "plan": plan.key,
        "episode": plan.episode,
        "house": house_of(plan.episode),
        "query": plan.query,
        "text": plan.text,
        "category": plan.category,
        "answer": row.places,
        "gt_bodies": _joined(plan.gt_bodies),
        **{axis: str(value_of(plan)) for axis, value_of in STRATA.items()},
        "r_support_m": plan.r_support_m,
        "sources": _joined(plan.sources),
        "outcome": row.outcome,
        "reason": row.reason or None,
        "message": row.message,
        "label": row.label,
        "video": row.video,
        "content": plan.content,
    }


def _joined(names: Iterable[str]) -> str:
    return "; ".join(names)
