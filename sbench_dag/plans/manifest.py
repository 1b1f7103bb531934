"""The manifest on disk: `plans.parquet`, `cells.parquet` and `episodes.json` of a study's `manifest/`.

It defines the partitions. Written whole and renamed, so that a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.errors import SetupError
from sbench_dag.files import write_whole
from sbench_dag.outcomes import Reason
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.plan import Plan

FILES = ("episodes.json", "plans.parquet", "cells.parquet")

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
        ("content", pa.string()),
        ("shown", pa.string()),
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


def write_manifest(folder: Path, manifest: Manifest) -> bool:
    """Writes what has changed; returns whether anything has."""
    folder.mkdir(parents=True, exist_ok=True)
    about = json.dumps({"episodes": manifest.episodes, "problems": manifest.problems}, indent=1) + "\n"
    return any(
        [
            _replace(folder / "plans.parquet", _bytes(_table(manifest.plans, _PLANS))),
            _replace(folder / "cells.parquet", _bytes(_table(manifest.cells, _CELLS))),
            _replace(folder / "episodes.json", about.encode()),
        ]
    )


class Entry(NamedTuple):
    """The little of a plan that partitions and fingerprints need. shown: changes with whatever a page shows of it."""

    key: str
    episode: str
    is_pick: bool
    content: str
    shown: str


class StoredManifest:
    """A manifest as it was on disk when this was made. Its parts are parsed when they are asked for: plans and cells
    of a large study take seconds, entries do not.
    """

    def __init__(self, folder: Path):
        if not (folder / "episodes.json").exists():
            raise SetupError(f"{folder}: no manifest here; `sbench study create` writes one")
        about, self._plans, self._cells = ((folder / name).read_bytes() for name in FILES)
        self._about = json.loads(about)
        self.version = hashlib.sha256(about + self._plans + self._cells).hexdigest()[:16]

    @property
    def episodes(self) -> tuple[str, ...]:
        return tuple(self._about["episodes"])

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._about["problems"])

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        rows = _columns(self._plans, ["key", "episode", "scoring", "content", "shown"])
        return tuple(Entry(key, episode, scoring == Scoring.LIFTED, *more) for key, episode, scoring, *more in rows)

    @cached_property
    def entry(self) -> Mapping[str, Entry]:
        return {entry.key: entry for entry in self.entries}

    @cached_property
    def by_episode(self) -> Mapping[str, Sequence[Entry]]:
        """The entries of each episode, also of those that have none."""
        found: dict[str, list[Entry]] = {episode: [] for episode in self.episodes}
        for entry in self.entries:
            found[entry.episode].append(entry)
        return found

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        names = [f.name for f in fields(Plan)]
        return tuple(_plan(dict(zip(names, row, strict=True))) for row in _columns(self._plans, names))

    @cached_property
    def by_key(self) -> dict[str, Plan]:
        return {plan.key: plan for plan in self.plans}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        names = [f.name for f in fields(Cell)]
        return tuple(_cell(dict(zip(names, row, strict=True))) for row in _columns(self._cells, names))


def read_manifest(folder: Path) -> StoredManifest:
    """The manifest as it is now. One that has not changed since the last call is that call's."""
    stamp = [
        ((folder / name).stat().st_mtime_ns, (folder / name).stat().st_ino)
        for name in FILES
        if (folder / name).exists()
    ]
    known = _known.get(folder)
    if known is None or known[0] != stamp:
        _known[folder] = known = (stamp, StoredManifest(folder))
    return known[1]


_known: dict[Path, tuple[list[tuple[int, int]], StoredManifest]] = {}


def _table(rows: Sequence[Plan] | Sequence[Cell], schema: pa.Schema) -> pa.Table:
    """By columns: a table of 100,000 plans, row by row, takes ten times as long."""
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    if "selections" in columns:
        columns["selections"] = [[vars(selection) for selection in selections] for selections in columns["selections"]]
    return pa.table(columns, schema=schema)


def _columns(raw: bytes, names: list[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, of these columns."""
    if missing := set(names) - set(pq.read_schema(pa.BufferReader(raw)).names):
        raise SetupError(
            f"an older version wrote the manifest (no {', '.join(missing)}); `sbench study create` does anew"
        )
    table = pq.read_table(pa.BufferReader(raw), columns=names).select(names)
    return zip(*(column.to_pylist() for column in table), strict=True)


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
