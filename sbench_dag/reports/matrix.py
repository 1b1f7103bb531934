"""The results as a table: a row per query, a column per source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sbench_dag.dataset.answers import BLIND
from sbench_dag.errors import SetupError
from sbench_dag.plans.expand import CellResult
from sbench_dag.plans.plan import ORACLE, Plan

ANCHORS = (ORACLE, BLIND)
"""The ceiling and the floor, which no model gave."""
STRATA: Mapping[str, Callable[[Plan], str]] = {
    "kind": lambda plan: plan.kind.removeprefix("find_"),
    "steps": lambda plan: plan.steps,
    "scoring": lambda plan: plan.scoring,
    "twin": lambda plan: "twin" if plan.twin else "no twin",
    "floor": lambda plan: "on the floor" if plan.floor else "on furniture",
}
UNREADABLE = "unreadable"
"""Every stratum of a query whose episode's files are wrong."""


def named(source: str) -> dict[str, str | None]:
    """Strategy and model of a source; the ceiling and the floor have none."""
    strategy, _, model = source.partition("/")
    return {"strategy": None, "model": None} if source in ANCHORS else {"strategy": strategy, "model": model}


def house_of(episode: str) -> str:
    """The house in an episode's name: of `val_0003__2`, the third episode there, it is `val_0003`."""
    return episode.partition("__")[0]


@dataclass(frozen=True)
class Query:
    """Its scoring is `lifted` if it is a pick. strata: axis -> value."""

    episode: str
    query: str
    text: str
    is_pick: bool
    strata: Mapping[str, str]

    @property
    def house(self) -> str:
        return house_of(self.episode)


@dataclass(frozen=True)
class Matrix:
    """cells: [query][source], in the order of `queries` and `sources`; the ceiling comes first, the floor last."""

    sources: tuple[str, ...]
    queries: tuple[Query, ...]
    cells: tuple[tuple[CellResult, ...], ...]

    @cached_property
    def houses(self) -> np.ndarray:
        """(queries,) names: queries of one house are no independent trials."""
        return np.array([query.house for query in self.queries], dtype=str)

    @cached_property
    def picks(self) -> np.ndarray:
        """(queries,) bool."""
        return np.array([query.is_pick for query in self.queries], dtype=bool)

    def values(self, what: Callable[[CellResult], bool | None]) -> np.ndarray:
        """(queries, sources) 1, 0, or NaN where nothing is known."""
        known = {True: 1.0, False: 0.0, None: np.nan}
        found = [[known[what(cell)] for cell in row] for row in self.cells]
        return np.array(found, dtype=float).reshape(len(self.queries), len(self.sources))

    def column(self, source: str) -> list[CellResult]:
        return [row[self.sources.index(source)] for row in self.cells]

    def of(self, rows: Sequence[int] | np.ndarray) -> Matrix:
        """Some of the queries."""
        return Matrix(self.sources, tuple(self.queries[i] for i in rows), tuple(self.cells[i] for i in rows))

    def strata(self) -> list[tuple[str, str, Matrix]]:
        """(axis, value, its queries), in the order of the axes."""
        found = []
        for axis in STRATA:
            for value in sorted({query.strata[axis] for query in self.queries}):
                rows = [i for i, query in enumerate(self.queries) if query.strata[axis] == value]
                found.append((axis, value, self.of(rows)))
        return found


def make_matrix(cells: Iterable[CellResult]) -> Matrix:
    """
    Raises:
        SetupError: a source lacks a query, so that its rates would have another denominator than the others'.
    """
    by_place = {(c.cell.source, c.cell.episode, c.cell.query): c for c in cells}
    found = {source for source, _, _ in by_place}
    sources = sorted(found, key=lambda source: (source != ORACLE, source == BLIND, source))
    places = sorted({place[1:] for place in by_place})
    for source in sources:
        mine = sum((source, *place) in by_place for place in places)
        if mine != len(places):
            counts = f"{mine} of {len(places)} queries"
            raise SetupError(f"{source} has {counts} in the manifest; `sbench study create` rebuilds it")
    rows = tuple(tuple(by_place[(source, *place)] for source in sources) for place in places)
    return Matrix(tuple(sources), tuple(_query(row[0]) for row in rows), rows)


def _query(cell: CellResult) -> Query:
    plan = cell.question
    strata = {axis: UNREADABLE if plan is None else str(value_of(plan)) for axis, value_of in STRATA.items()}
    return Query(cell.cell.episode, cell.cell.query, plan.text if plan else "", cell.is_pick, strata)
