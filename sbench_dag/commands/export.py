"""`sbench export`: the report's numbers as CSV, Parquet, JSON or LaTeX."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sbench_dag.errors import SetupError

if TYPE_CHECKING:
    from sbench_dag.reports.grid import Results

HELP = "a study's numbers as CSV, Parquet, JSON or a LaTeX table"
TABLES = {
    "grid": "a row per source",
    "strata": "a row per stratum and source",
    "cells": "a row per source and query",
    "plans": "a row per plan",
    "pairs": "a row per two sources",
}
IN_LATEX = ("grid", "strata")


def add(commands) -> None:
    parser = commands.add_parser("export", help=HELP, description=f"{HELP}; docs/comparing.md")
    parser.add_argument("--study", help="needed only if there are several")
    parser.add_argument("--format", required=True, choices=("csv", "parquet", "latex", "json"))
    about = "; ".join(f"{name}: {text}" for name, text in TABLES.items())
    parser.add_argument("--table", default="grid", choices=tuple(TABLES), help=f"default: grid. {about}")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: print it; Parquet needs a file")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """
    Raises:
        SetupError: Parquet without a file, or a table that is not made in LaTeX.
    """
    from sbench_dag.files import write_whole
    from sbench_dag.reports.grid import Results
    from sbench_dag.study import find_study

    if arguments.format == "parquet" and arguments.out is None:
        raise SetupError("Parquet is no text: name a file with --out")
    if arguments.format == "latex" and arguments.table not in IN_LATEX:
        tables = " and ".join(IN_LATEX)
        raise SetupError(f"--table {arguments.table}: LaTeX is made of {tables}; csv, parquet and json of all tables")
    content = _content(Results(find_study(arguments.study)), arguments.format, arguments.table)
    if arguments.out is None:
        sys.stdout.write(content.decode())
        return 0
    if not arguments.out.absolute().parent.is_dir():
        raise SetupError(f"--out {arguments.out}: there is no folder {arguments.out.absolute().parent}")
    write_whole(arguments.out, content)
    return 0


def _content(results: Results, form: str, table: str) -> bytes:
    from sbench_dag.export.latex import grid_latex, strata_latex
    from sbench_dag.export.tables import TABLES
    from sbench_dag.reports.grid import make_grid

    if form == "latex":
        return {"grid": grid_latex, "strata": strata_latex}[table](make_grid(results)).encode()
    frame = TABLES[table](results)
    if form == "csv":
        return frame.write_csv().encode()
    if form == "json":
        return (frame.write_json() + "\n").encode()
    sink = io.BytesIO()
    frame.write_parquet(sink)
    return sink.getvalue()
