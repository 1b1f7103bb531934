"""A process that materialises a study several times over, by a pretended cluster: `python -m tests.assets.writer`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import dagster as dg

from sbench_dag.study import find_study
from tests.assets.support import Bench


def main(study: str, times: int, go: Path) -> None:
    """Begins when the file `go` is there, so that several begin at a time."""
    with dg.DagsterInstance.get() as instance:
        bench = Bench(find_study(study), instance)
        Path(f"{go}.{study}").touch()
        while not go.exists():
            time.sleep(0.01)
        for _ in range(times):
            bench.run_all()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
