"""Scores that somebody stored: a CSV or JSONL file, or HELM runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sbench_dag.errors import SetupError
from sbench_dag.rewards.bench.stored import read_predictions
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import Score, Status
from sbench_dag.work.fingerprint import combine, file_sha256


@dataclass(frozen=True)
class StoredScores:
    """path: as `read_predictions` takes it. model: which one, if it holds several."""

    name: str
    path: Path
    model: str | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """
        Raises:
            SetupError: there is no such file.
        """
        files = [self.path] if self.path.is_file() else sorted(file for file in self.path.rglob("*") if file.is_file())
        if not files:
            raise SetupError(f"{self.name}: {self.path}: no predictions there")
        return {"model": self.name, "stored_model": self.model, "revision": combine(map(file_sha256, files))}

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        """
        Raises:
            SetupError: the file holds no scores of these examples, or those of several models.
        """
        scores, identity = self._scores([example.id for example in examples]), self.identity
        none = Score(Status.MISSING, why=f"{self.path} has no score of it")
        for example in examples:
            found = scores.get(example.id, none)
            yield replace(found, protocol={**identity, "stored_protocol": dict(found.protocol)})

    def _scores(self, ids: Sequence[str]) -> Mapping[str, Score]:
        models = read_predictions(self.path, ids).models
        if self.model is None and len(models) == 1:
            return next(iter(models.values()))
        if self.model not in models:
            raise SetupError(f"{self.name}: model = {self.model!r}: {self.path} holds {', '.join(sorted(models))}")
        return models[self.model]
