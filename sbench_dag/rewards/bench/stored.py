"""Predictions that somebody has stored: CSV, JSONL, or the files of HELM runs.

An answer that a file does not give one score of is unparseable or missing, as it would be if the model had just said
it. A row that can't be read is named, and its example has no answer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.bench.helm_runs import PER_INSTANCE, STATE, run_files, run_rows
from sbench_dag.rewards.bench.lines import csv_rows, jsonl
from sbench_dag.rewards.bench.roboreward import example_id
from sbench_dag.rewards.parser import parse
from sbench_dag.rewards.score import HIGHEST, LOWEST, Score, Status

READERS = {".csv": csv_rows, ".jsonl": jsonl}


@dataclass
class Stored:
    """models: name -> id of the example -> score. problems: rows that could not be used, each named."""

    models: dict[str, dict[str, Score]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_predictions(path: Path, ids: Collection[str], model: str | None = None) -> Stored:
    """path: a .csv or .jsonl file, or a HELM run's folder, or one that holds such. ids: of the examples there are.

    model: the name of all in it; otherwise the column `model`, or HELM's name, or the file's.

    Raises:
        SetupError: it holds nothing of the kind, or about none of the examples.
    """
    if not path.exists():
        raise SetupError(f"{path}: no predictions there")
    known = frozenset(ids)
    stored, strangers = Stored(), []
    for file, at, row in _rows(path):
        try:
            if isinstance(row, InputError):
                raise row
            names = _ids(file, at, row)
            name = next((name for name in names if name in known), None)
            if name is None:
                strangers.append(names[0])
                continue
            score = score_of(file, at, row)
            scores = stored.models.setdefault(model or str(row.get("model") or path.stem), {})
            if name in scores:
                scores[name] = Score(Status.MISSING, why="the file has several answers")
                raise InputError(file, f"{at}.id", name, "has several answers, so it gets none of them")
            scores[name] = score
        except InputError as problem:
            stored.problems.append(str(problem))
    if not stored.models:
        found = f"its ids, like {strangers[0]!r}, are not those of the examples" if strangers else "no row can be used"
        raise SetupError("\n".join([f"{path}: {found}", *stored.problems[:20]]))
    if strangers:
        stored.problems.append(f"{path}: {len(strangers)} answers are about no example, e.g. {strangers[0]!r}")
    return stored


def read_all(sources: Iterable[str], ids: Collection[str]) -> Stored:
    """sources: paths as of `read_predictions`, each perhaps after `MODEL=`.

    Raises:
        SetupError: as there; or two of them have a model of the same name.
    """
    every = Stored()
    for source in sources:
        name, _, path = source.rpartition("=") if not Path(source).exists() else ("", "", source)
        found = read_predictions(Path(path), ids, name or None)
        if again := sorted(set(found.models) & set(every.models)):
            raise SetupError(f"{path}: there are scores of {again[0]!r} already; give it another name: NAME={path}")
        every.models |= found.models
        every.problems += found.problems
    return every


def _rows(path: Path) -> Iterator[tuple[Path, str, Mapping[str, Any] | InputError]]:
    """The file, where in it, and the row or what is wrong with it."""
    if path.name == PER_INSTANCE:
        raise SetupError(f"{path}: it holds errors but no answers; give {STATE} of the same run")
    reader = READERS.get(path.suffix.lower())
    if path.is_dir() or path.name == STATE:
        files, reader = run_files(path), run_rows
    elif reader:
        files = [path]
    else:
        raise SetupError(f"{path}: expected {', '.join(READERS)}, {STATE}, or a folder of HELM runs")
    for file in files:
        for at, row in reader(file):
            yield file, at, row


def _ids(file: Path, at: str, row: Mapping[str, Any]) -> list[str]:
    """By which names its example may be known, the surest first."""
    found = [row[key] for key in ("id", "other_id") if row.get(key)]
    if row.get("file_name"):
        found.append(example_id(str(row["file_name"])))
    if not found:
        raise InputError(file, f"{at}.id", row.get("id"), "expected the example's id, or file_name")
    return [str(name) for name in found]


def score_of(file: Path, at: str, row: Mapping[str, Any]) -> Score:
    """Of `status`, `value` (or `score`), `answer` and what else a Score has; any one of them may be enough."""
    answer = row.get("answer")
    key = "score" if "value" not in row and "score" in row else "value"
    value, status = row.get(key), row.get("status")
    if status is None:
        if value is not None:
            status = Status.SCORED
        else:
            return parse(answer) if "answer" in row else Score(Status.MISSING, why="no answer is stored")
    if status not in list(Status):
        raise InputError(file, f"{at}.status", status, f"expected one of {', '.join(Status)}")
    why, number = str(row.get("why") or ""), _whole(value)
    if status == Status.SCORED and number is None:
        status, why = Status.UNPARSEABLE, f"{value} is not a whole number from {LOWEST} to {HIGHEST}"
    elif status != Status.SCORED and value is not None:
        raise InputError(file, f"{at}.{key}", value, f"expected none, since its status is {status}")
    return Score(
        Status(status),
        number,
        why,
        None if answer is None else str(answer),
        _number(file, f"{at}.expected", row.get("expected")),
        _protocol(file, f"{at}.protocol", row.get("protocol")),
    )


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if LOWEST <= number <= HIGHEST and number.is_integer() else None


def _number(file: Path, field: str, value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise InputError(file, field, value, "expected a number") from None


def _protocol(file: Path, field: str, value: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value or {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(file, field, value, "expected an object")
    return found
