"""Results as tables: a cache for reports and for people who bring their own tools. Rebuilt at any time."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sbench_dag.files import write_whole
from sbench_dag.work.store import Line

_SCHEMA = {
    "key": pl.String,
    "outcome": pl.String,
    "reason": pl.String,
    "message": pl.String,
    "row": pl.String,
    "finished": pl.Float64,
    "host": pl.String,
    "fingerprint": pl.String,
}


def results_table(lines: Mapping[str, Line]) -> pl.DataFrame:
    """One row per key, sorted; the gate's own row as JSON text."""
    rows = [
        {
            "key": key,
            "outcome": str(line.outcome),
            "reason": str(line.result.reason) if line.result.reason else None,
            "message": line.result.message,
            "row": json.dumps(line.row),
            "finished": line.finished,
            "host": line.host,
            "fingerprint": line.fingerprint,
        }
        for key, line in sorted(lines.items())
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def write_table(file: Path, lines: Mapping[str, Line]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    results_table(lines).write_parquet(content)
    write_whole(file, content.getvalue())
