"""Tables are there whole, whoever else writes them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl

from sbench_dag.work.tables import write_table


def write_often(file: Path) -> None:
    for _ in range(50):
        write_table(file, {})


def test_two_processes_write_the_same_table(tmp_path: Path):
    file = tmp_path / "tables" / "stage_b.parquet"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for written in [pool.submit(write_often, file) for _ in range(2)]:
            written.result()
    assert pl.read_parquet(file).height == 0
    assert list(file.parent.iterdir()) == [file]
