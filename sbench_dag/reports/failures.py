"""Why robots failed: every reason with the cells that it lowers, and plans to look at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sbench_dag.outcomes import Outcome
from sbench_dag.reports.matrix import Matrix
from sbench_dag.reports.rows import PlanRow

CLIPS = 4


@dataclass(frozen=True)
class Failure:
    """lowers: source -> how many of its queries, most first. shown: plans, with a video and of most cells first."""

    label: str
    cells: int
    plans: int
    lowers: dict[str, int]
    shown: tuple[PlanRow, ...]


def failures(matrix: Matrix, rows: Iterable[PlanRow]) -> list[Failure]:
    """By how many cells they lower. What is invalid or not run has no verdict, and is not among them."""
    by_key = {row.plan.key: row for row in rows}
    lowers: dict[str, Counter[str]] = defaultdict(Counter)
    plans: dict[str, Counter[str]] = defaultdict(Counter)
    for row in matrix.cells:
        for cell in row:
            if cell.outcome is Outcome.FAILURE and cell.reason is not None and cell.cell.plan is not None:
                lowers[cell.label][cell.cell.source] += 1
                plans[cell.label][cell.cell.plan] += 1
    found = []
    for label, counts in plans.items():
        order = sorted(counts, key=lambda key: (by_key[key].video is None, -counts[key], key))
        shown = tuple(by_key[key] for key in order[:CLIPS])
        found.append(Failure(label, counts.total(), len(counts), dict(lowers[label].most_common()), shown))
    return sorted(found, key=lambda failure: (-failure.cells, failure.label))
