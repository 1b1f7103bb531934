"""Counts and rates per source over a set of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sbench_dag.outcomes import Outcome
from sbench_dag.plans.expand import CellResult
from sbench_dag.reports.losses import losses
from sbench_dag.reports.matrix import Matrix, named
from sbench_dag.stats.bootstrap import RESAMPLES
from sbench_dag.stats.clustered import Interval, clustered
from sbench_dag.stats.decomposition import decompose_all

# name -> what is counted; of all queries
ALL: Mapping[str, Callable[[CellResult], bool | None]] = {
    "sr_b": lambda c: c.reached,
    "loc_set": lambda c: c.cell.loc_set,
}


def summarise(matrix: Matrix, resamples: int = RESAMPLES) -> list[dict[str, Any]]:
    """A dict per source. Intervals are by house; those of a product and its factors come from the same draws."""
    rates = [{} for _ in matrix.sources]
    for name, what in ALL.items():
        values = matrix.values(what)
        for i, interval in enumerate(clustered(np.nan_to_num(values), matrix.houses, resamples).intervals):
            rates[i][name] = _rate(values[:, i], interval)
    for mine, of_picks in zip(rates, _of_picks(matrix.of(np.flatnonzero(matrix.picks)), resamples), strict=True):
        mine |= of_picks
    return [
        {"source": source, **named(source), **_counts(matrix.column(source)), **rates[i]}
        for i, source in enumerate(matrix.sources)
    ]


def _of_picks(picks: Matrix, resamples: int) -> list[dict[str, Any]]:
    """SR_C and its factors, which are such only where every query asks for lifting."""
    reached, lifted, held = (
        picks.values(what) for what in (lambda c: c.reached, lambda c: c.lifted, lambda c: c.lifted_held)
    )
    scoring = np.array([query.strata["scoring"] for query in picks.queries], dtype=str)
    parts = decompose_all(reached, lifted, scoring, picks.houses, resamples)
    of_held = clustered(np.nan_to_num(held), picks.houses, resamples).intervals
    return [
        {
            "sr_c": _rate(lifted[:, i], part.success.interval),
            "sr_c_held": _rate(held[:, i], of_held[i]),
            "p_reached": _rate(reached[:, i], part.reached.interval),
            "p_lifted_given_reached": _rate(lifted[reached[:, i] == 1, i], part.lifted_given_reached.interval),
        }
        for i, part in enumerate(parts)
    ]


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


def _rate(values: np.ndarray, interval: Interval | None) -> dict[str, Any]:
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
