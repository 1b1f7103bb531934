"""Counts and rates per source over a set of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sbench_dag.outcomes import Outcome
from sbench_dag.plans.expand import CellResult
from sbench_dag.reports.losses import losses
from sbench_dag.reports.matrix import ANCHORS, Matrix
from sbench_dag.stats.clustered import clustered

# name -> (what is counted, among which cells)
RATES: Mapping[str, tuple[Callable[[CellResult], bool | None], Callable[[CellResult], bool]]] = {
    "sr_b": (lambda c: c.reached, lambda c: True),
    "sr_c": (lambda c: c.lifted, lambda c: c.is_pick),
    "sr_c_held": (lambda c: c.lifted_held, lambda c: c.is_pick),
    "p_reached": (lambda c: c.reached, lambda c: c.is_pick),
    "p_lifted_given_reached": (lambda c: c.lifted, lambda c: c.is_pick and bool(c.reached)),
    "loc_set": (lambda c: c.cell.loc_set, lambda c: True),
}


def summarise(matrix: Matrix) -> list[dict[str, Any]]:
    """A dict per source. Intervals are by house; all of them come from the same draws of houses."""
    found = {name: matrix.values(what) for name, (what, _) in RATES.items()}
    among = {name: matrix.values(where) == 1 for name, (_, where) in RATES.items()}
    counted = {name: np.where(among[name], np.nan_to_num(values), np.nan) for name, values in found.items()}
    intervals = clustered(np.concatenate(list(counted.values()), axis=1), matrix.houses).intervals
    sources = len(matrix.sources)
    rows = []
    for i, source in enumerate(matrix.sources):
        rates = {
            name: _rate(found[name][among[name][:, i], i], intervals[k * sources + i]) for k, name in enumerate(RATES)
        }
        rows.append({"source": source, **_named(source), **_counts(matrix.column(source)), **rates})
    return rows


def by_house(matrix: Matrix) -> list[dict[str, Any]]:
    """A dict per house: its queries, and per source (in the grid's order) how many were reached, and lifted."""
    found = []
    for house in sorted(set(matrix.houses)):
        part = matrix.of(np.flatnonzero(matrix.houses == house))
        reached, lifted = part.values(lambda c: c.reached), part.values(lambda c: c.lifted)
        found.append(
            {
                "house": str(house),
                "episodes": sorted({query.episode for query in part.queries}),
                "queries": len(part.queries),
                "picks": int(part.picks.sum()),
                "reached": [int(n) for n in np.nansum(reached, axis=0)],
                "lifted": [int(n) for n in np.nansum(lifted, axis=0)],
            }
        )
    return found


def _named(source: str) -> dict[str, str | None]:
    strategy, _, model = source.partition("/")
    return {"strategy": None, "model": None} if source in ANCHORS else {"strategy": strategy, "model": model}


def _counts(cells: list[CellResult]) -> dict[str, Any]:
    picks = [c for c in cells if c.is_pick]
    return {
        "synthetic": any(c.cell.synthetic for c in cells),
        "planned": len(cells),
        "abstained": sum(c.cell.abstained for c in cells),
        "done": sum(c.outcome.is_result and not c.cell.abstained for c in cells),
        "invalid": sum(c.outcome is Outcome.INVALID for c in cells),
        "not_run": sum(c.outcome is Outcome.NOT_RUN for c in cells),
        "reached": sum(bool(c.reached) for c in cells),
        "picks": {
            "planned": len(picks),
            "reached": sum(bool(c.reached) for c in picks),
            "lifted": sum(bool(c.lifted) for c in picks),
            "lifted_held": sum(bool(c.lifted_held) for c in picks),
        },
        "lost": losses(cells),
        "lost_picks": losses(picks),
        "outcomes": dict(sorted(Counter(c.label for c in cells).items())),
    }


def _rate(values: np.ndarray, interval: Any) -> dict[str, Any]:
    """values: (n,), NaN where nothing is known, which `rate` counts as a failure (so it is the worst case), `best` as a
    success, and `rate_completed` not at all."""
    n, known = len(values), values[~np.isnan(values)]
    count = int(known.sum())
    return {
        "rate": count / n if n else None,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "method": interval and str(interval.method),
        "best": (count + n - len(known)) / n if n else None,
        "rate_completed": count / len(known) if len(known) else None,
        "count": count,
        "planned": n,
        "completed": len(known),
    }
