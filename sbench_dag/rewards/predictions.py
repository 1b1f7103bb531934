"""Labels and the scores of any number of models, as aligned arrays: what every metric starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.rewards.example import LabelledExample
from sbench_dag.rewards.score import Score, Status


@dataclass(frozen=True)
class ModelScores:
    """values: (n,) floats, 1 to 5, NaN where there is no score. status: (n,) `Status`."""

    values: np.ndarray
    status: np.ndarray

    @property
    def scored(self) -> np.ndarray:
        return self.status == Status.SCORED

    def count(self, status: Status) -> int:
        return int((self.status == status).sum())


@dataclass(frozen=True)
class Predictions:
    """n examples. ids: (n,) unique; subsets, clusters: (n,) strings; labels: (n,) integers 1 to 5."""

    ids: np.ndarray
    subsets: np.ndarray
    clusters: np.ndarray
    labels: np.ndarray
    models: Mapping[str, ModelScores]

    @property
    def n(self) -> int:
        return len(self.ids)


def gather(examples: Sequence[LabelledExample], scores: Mapping[str, Mapping[str, Score]]) -> Predictions:
    """scores: model -> id of the example -> score. An example that a model has no score of is missing there.

    Raises:
        ValueError: there are no examples, or two have the same id.
    """
    ids = [labelled.example.id for labelled in examples]
    if not ids:
        raise ValueError("no examples, so there is nothing to score")
    if len(set(ids)) != len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ValueError(f"two examples have the id {twice!r}")
    return Predictions(
        ids=np.array(ids),
        subsets=np.array([labelled.subset for labelled in examples]),
        clusters=np.array([labelled.cluster for labelled in examples]),
        labels=np.array([labelled.label for labelled in examples], dtype=np.int64),
        models={model: _aligned(ids, found) for model, found in scores.items()},
    )


def _aligned(ids: Sequence[str], scores: Mapping[str, Score]) -> ModelScores:
    values = np.full(len(ids), np.nan)
    status = np.full(len(ids), Status.MISSING, dtype=object)
    for i, name in enumerate(ids):
        if (score := scores.get(name)) is not None:
            status[i] = score.status
            if score.value is not None:
                values[i] = score.value
    return ModelScores(values, status)
