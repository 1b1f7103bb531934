"""What `python -m assets run` says at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.text import grid_table, headline_text
from sbench_dag.study import Study


def print_outcome(study: Study, failures: Iterable[str]) -> int:
    """The grid, the report's path, and what has no result and why; returns the exit code."""
    grid = make_grid(Results(study))
    print(f"\n{grid_table(grid['cells'])}\n\n{headline_text(grid)}\n")
    page = study.reports / "index.html"
    if page.exists():
        print(f"report: {page}")
    problems = [*_input_problems(study), *failures]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _input_problems(study: Study) -> Iterator[str]:
    yield from (f"input: {problem}" for problem in study.manifest.problems)
    unusable = Counter(str(cell.invalid) for cell in study.manifest.cells if cell.invalid)
    yield from (f"input: {count} answers are invalid ({reason})" for reason, count in unusable.items())
