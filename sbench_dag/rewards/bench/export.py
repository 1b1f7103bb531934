"""Scores as files that stored.py reads back: `.csv`, `.jsonl`, or a folder of HELM's, by the name that they get."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sbench_dag.errors import SetupError
from sbench_dag.files import write_whole
from sbench_dag.rewards.bench.helm_runs import STATE, run_state
from sbench_dag.rewards.score import Score

_COLUMNS = ("model", "id", "status", "value", "why", "answer", "expected", "protocol")


def write_predictions(path: Path, models: Mapping[str, Mapping[str, Score]]) -> None:
    """models: name -> id of the example -> score. A CSV can't tell an empty answer from none.

    Raises:
        SetupError: the name says no form.
    """
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows([*row.values()][:-1] + [json.dumps(row["protocol"])] for row in _rows(models))
        write_whole(path, text.getvalue())
    elif path.suffix == ".jsonl":
        write_whole(path, "".join(json.dumps(row) + "\n" for row in _rows(models)))
    elif not path.suffix:
        for model, scores in models.items():
            folder = path / model.replace("/", "_")
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / STATE, run_state(model, scores))
    else:
        raise SetupError(f"{path}: expected a name that ends in .csv or .jsonl, or a folder's for HELM's form")


def score_row(model: str, name: str, score: Score) -> dict[str, Any]:
    """name: the example's id."""
    values = (score.value, score.why, score.answer, score.expected, dict(score.protocol))
    return dict(zip(_COLUMNS, (model, name, str(score.status), *values), strict=True))


def _rows(models: Mapping[str, Mapping[str, Score]]) -> Iterator[dict[str, Any]]:
    for model, scores in models.items():
        for name, score in scores.items():
            yield score_row(model, name, score)
