"""Sources against each other, on the queries that have a verdict for both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sbench_dag.dataset.answers import BLIND
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.matrix import Matrix
from sbench_dag.stats.paired import Pair, compare_all, holm, told_apart

METRICS = ("sr_b", "sr_c")


def pairs(matrix: Matrix) -> list[dict[str, Any]]:
    """Every two sources, per metric. p_holm is adjusted within a family: the readers among themselves, all sources
    against the ceiling, all against the floor. told_apart: the test says so, and the interval, which knows that the
    queries of a house are alike, as the test does not."""
    found: list[dict[str, Any]] = []
    for metric, part, values in _columns(matrix):
        families: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for (i, j), pair in compare_all(values, part.houses).items():
            a, b = matrix.sources[i], matrix.sources[j]
            families[_family(a, b)].append({"metric": metric, "family": _family(a, b), "a": a, "b": b, **_row(pair)})
        for members in families.values():
            for row, p in zip(members, holm([row["p"] for row in members]), strict=True):
                found.append({**row, "p_holm": p, "told_apart": told_apart(p, row["low"], row["high"])})
    return found


@dataclass(frozen=True)
class PairMatrix:
    """rows: (a, its pair with each of `sources`, or None with itself), a first in every pair."""

    sources: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Mapping[str, Any] | None, ...]], ...]


def pair_matrix(found: Sequence[Mapping[str, Any]], metric: str) -> PairMatrix | None:
    """The readers against each other; None if there are not two with a verdict."""
    by_place: dict[tuple[str, str], Mapping[str, Any]] = {}
    for pair in found:
        if pair["metric"] == metric and pair["family"] == "readers" and pair["n"]:
            by_place |= {(pair["a"], pair["b"]): pair, (pair["b"], pair["a"]): turned(pair)}
    sources = tuple(sorted({a for a, _ in by_place}))
    rows = tuple((a, tuple(by_place.get((a, b)) for b in sources)) for a in sources)
    return PairMatrix(sources, rows) if sources else None


def turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """The same comparison with a and b exchanged."""
    negative = {name: None if pair[name] is None else -pair[name] for name in ("difference", "low", "high")}
    return {
        **pair,
        "a": pair["b"],
        "b": pair["a"],
        "only_a": pair["only_b"],
        "only_b": pair["only_a"],
        "difference": negative["difference"],
        "low": negative["high"],
        "high": negative["low"],
    }


def _columns(matrix: Matrix) -> list[tuple[str, Matrix, np.ndarray]]:
    picks = matrix.of(np.flatnonzero(matrix.picks))
    return [("sr_b", matrix, matrix.values(lambda c: c.reached)), ("sr_c", picks, picks.values(lambda c: c.lifted))]


def _family(a: str, b: str) -> str:
    return "floor" if BLIND in (a, b) and ORACLE not in (a, b) else "ceiling" if ORACLE in (a, b) else "readers"


def _row(pair: Pair) -> dict[str, Any]:
    interval = pair.interval
    return {
        "n": pair.n,
        "both": pair.both,
        "only_a": pair.only_a,
        "only_b": pair.only_b,
        "neither": pair.neither,
        "difference": pair.difference if pair.n else None,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "method": interval and str(interval.method),
        "p": pair.p,
        "detectable": pair.detectable,
        "equivalent_within": pair.equivalent_within,
    }
