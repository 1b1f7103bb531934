"""The manifest on disk: `plans.parquet`, `cells.parquet` and `episodes.json` of a study's `manifest/`.

It defines the partitions. Written whole and renamed, so that a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.errors import SetupError
from sbench_dag.files import write_whole
from sbench_dag.outcomes import Reason
from sbench_dag.plans.build import Cell, Entry, Manifest, heard
from sbench_dag.plans.plan import Plan

_Row = TypeVar("_Row", Plan, Cell)
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


def manifest_files(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in ("plans.parquet", "cells.parquet", "episodes.json"))


def write_manifest(folder: Path, manifest: Manifest) -> bool:
    """Writes what has changed; returns whether anything has.

    `episodes.json` comes last and says of which tables it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plans, cells = _bytes(_table(manifest.plans, _PLANS)), _bytes(_table(manifest.cells, _CELLS))
    about = {
        "episodes": manifest.episodes,
        "problems": manifest.problems,
        "answers": _answers(manifest),
        "tables": _sha256(plans + cells),
    }
    contents = (plans, cells, (json.dumps(about, indent=1) + "\n").encode())
    changed = [_replace(file, content) for file, content in zip(manifest_files(folder), contents, strict=True)]
    return any(changed)


class StoredManifest:
    """A manifest as it was on disk when this was made. Its parts are parsed when they are asked for: plans and cells
    of a large study take seconds, entries do not.

    Raises:
        SetupError: `episodes.json` is damaged.
    """

    def __init__(self, folder: Path):
        self._plans, self._cells, about = (file.read_bytes() for file in manifest_files(folder))
        self._about = _about(manifest_files(folder)[-1], about)
        self.version = _sha256(about)

    @property
    def is_whole(self) -> bool:
        """Not read while somebody wrote it. One that an older version wrote does not say."""
        return self._about.get("tables", "") in ("", _sha256(self._plans + self._cells))

    @property
    def episodes(self) -> tuple[str, ...]:
        return tuple(self._about["episodes"])

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._about["problems"])

    def answers(self, episode: str) -> str:
        """Changes whenever somebody's answer about the episode does, or what is known of a question.

        "" of a manifest that an older version wrote.
        """
        return self._about.get("answers", {}).get(episode, "")

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
    def plans_of(self) -> Mapping[str, Sequence[Plan]]:
        """The plans of each episode, also of those that have none."""
        return _by_episode(self.episodes, self.plans)

    @cached_property
    def cells_of(self) -> Mapping[str, Sequence[Cell]]:
        """The cells of each episode, also of those that have none."""
        return _by_episode(self.episodes, self.cells)

    @cached_property
    def by_key(self) -> dict[str, Plan]:
        return {plan.key: plan for plan in self.plans}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        names = [f.name for f in fields(Cell)]
        return tuple(_cell(dict(zip(names, row, strict=True))) for row in _columns(self._cells, names))


def read_manifest(folder: Path) -> StoredManifest:
    """The manifest as it is now. One that has not changed since the last call is that call's."""
    files = manifest_files(folder)
    if not all(file.exists() for file in files):
        raise SetupError(f"{folder}: no manifest here; `sbench study create` writes one")
    for _ in range(_PATIENCE):
        stamp = [(stat.st_mtime_ns, stat.st_ino) for stat in (file.stat() for file in files)]
        known = _known.get(folder)
        if known and known[0] == stamp:
            return known[1]
        found = StoredManifest(folder)
        if found.is_whole:
            _known[folder] = (stamp, found)
            return found
        time.sleep(0.1)
    raise SetupError(f"{folder}: the manifest's files are not of one time; `sbench study create` writes them anew")


_PATIENCE = 50  # tenths of a second that somebody may take to write it
_known: dict[Path, tuple[list[tuple[int, int]], StoredManifest]] = {}


def _by_episode(episodes: Iterable[str], rows: Iterable[_Row]) -> Mapping[str, Sequence[_Row]]:
    found: dict[str, list[_Row]] = {episode: [] for episode in episodes}
    for row in rows:
        found[row.episode].append(row)
    return found


def _answers(manifest: Manifest) -> dict[str, str]:
    """Per episode a hash of the answers to its questions, and of what its plans' contents don't cover."""
    digests = {episode: hashlib.sha256() for episode in manifest.episodes}
    for cell in heard(manifest.cells):
        digests[cell.episode].update(repr(cell).encode())
    for plan in manifest.plans:
        digests[plan.episode].update(repr((plan.key, plan.kind, plan.twin, plan.floor)).encode())
    return {episode: digest.hexdigest()[:16] for episode, digest in digests.items()}


def _about(file: Path, content: bytes) -> Mapping[str, Any]:
    try:
        about = json.loads(content)
        if {"episodes", "problems"} <= about.keys():
            return about
    except (ValueError, AttributeError):  # neither JSON nor an object
        pass
    raise SetupError(f"{file}: damaged, or not of a manifest; `sbench study create` renews it") from None


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


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _replace(file: Path, content: bytes) -> bool:
    if file.exists() and file.read_bytes() == content:
        return False
    write_whole(file, content)
    return True
