"""The manifest on disk: `plans.parquet`, `cells.parquet` and `episodes.json` of a study's `manifest/`.

It defines the partitions. Written whole and renamed, so that a reader never sees half of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.errors import SetupError
from sbench_dag.files import write_whole
from sbench_dag.outcomes import Reason
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.plan import Plan

_SELECTION = pa.struct([("category", pa.string()), ("room", pa.string()), ("surface", pa.string())])
_PLANS = pa.schema(
    [
        ("key", pa.string()),
        ("episode", pa.string()),
        ("query", pa.string()),
        ("text", pa.string()),
        ("category", pa.string()),
        ("selections", pa.list_(_SELECTION)),
        ("gt_bodies", pa.list_(pa.string())),
        ("kind", pa.string()),
        ("steps", pa.string()),
        ("scoring", pa.string()),
        ("twin", pa.bool_()),
        ("floor", pa.bool_()),
        ("r_support_m", pa.float64()),
        ("sources", pa.list_(pa.string())),
    ]
)
_CELLS = pa.schema(
    [
        ("source", pa.string()),
        ("episode", pa.string()),
        ("query", pa.string()),
        ("synthetic", pa.bool_()),
        ("plan", pa.string()),
        ("abstained", pa.bool_()),
        ("invalid", pa.string()),
        ("loc_set", pa.bool_()),
    ]
)


def manifest_files(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in ("plans.parquet", "cells.parquet", "episodes.json"))


def write_manifest(folder: Path, manifest: Manifest) -> bool:
    """Writes what has changed; returns whether anything has."""
    folder.mkdir(parents=True, exist_ok=True)
    plans = pa.Table.from_pylist([asdict(plan) for plan in manifest.plans], schema=_PLANS)
    cells = pa.Table.from_pylist([asdict(cell) for cell in manifest.cells], schema=_CELLS)
    about = json.dumps({"episodes": manifest.episodes, "problems": manifest.problems}, indent=1) + "\n"
    contents = (_bytes(plans), _bytes(cells), about.encode())
    changed = [_replace(file, content) for file, content in zip(manifest_files(folder), contents, strict=True)]
    return any(changed)


def read_manifest(folder: Path) -> Manifest:
    plans, cells, about_file = manifest_files(folder)
    if not about_file.exists():
        raise SetupError(f"{folder}: no manifest here; `sbench study create` writes one")
    about = json.loads(about_file.read_text())
    return Manifest(
        plans=tuple(_plan(row) for row in pq.read_table(plans).to_pylist()),
        cells=tuple(_cell(row) for row in pq.read_table(cells).to_pylist()),
        episodes=tuple(about["episodes"]),
        problems=tuple(about["problems"]),
    )


def _plan(row: Mapping[str, Any]) -> Plan:
    return Plan(
        **{
            **row,
            "selections": tuple(Selection(**selection) for selection in row["selections"]),
            "gt_bodies": tuple(row["gt_bodies"]),
            "kind": Kind(row["kind"]),
            "steps": Steps(row["steps"]),
            "scoring": Scoring(row["scoring"]),
            "sources": tuple(row["sources"]),
        }
    )


def _cell(row: Mapping[str, Any]) -> Cell:
    return Cell(**{**row, "invalid": Reason(row["invalid"]) if row["invalid"] else None})


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def _replace(file: Path, content: bytes) -> bool:
    if file.exists() and file.read_bytes() == content:
        return False
    write_whole(file, content)
    return True
