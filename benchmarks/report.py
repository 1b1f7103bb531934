"""How long the summary takes, and how large it is: python -m benchmarks.report [--queries 1470]

Over answers of ten sources and results that nobody simulated.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

from benchmarks.answered_study import SOURCES, answered_study, store_outcomes
from sbench_dag.reports.charts import figures
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.page import write_summary
from sbench_dag.reports.text import table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1470)
    queries = parser.parse_args().queries
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SBENCH_HOME"] = folder
        study = answered_study("answered", queries)
        store_outcomes(study)
        rows = []
        clock = time.perf_counter()

        def lap(what: str) -> None:
            nonlocal clock
            now = time.perf_counter()
            rows.append((what, f"{now - clock:.1f}"))
            clock = now

        results = Results(study)
        results.cells()
        lap("results read")
        grid = make_grid(results)
        lap("numbers")
        figures(grid)
        lap("figures")
        page = write_summary(Results(study))
        lap("all of it, anew: sbench report's summary")
        print(
            f"{queries} queries, {len(SOURCES)} sources, the ceiling and the floor; {len(study.manifest.plans)} plans"
        )
        print(table(("what", "seconds"), rows))
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
