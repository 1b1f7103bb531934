"""The examples that are worth watching: where models are far off the label, or far from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sbench_dag.rewards.predictions import Predictions


@dataclass(frozen=True)
class Disagreement:
    """scores: what each model says, None where it says nothing. error: the models' mean absolute error. spread: from
    the lowest score to the highest."""

    id: str
    subset: str
    label: int
    scores: Mapping[str, int | None]
    error: float
    spread: int


def disagreements(predictions: Predictions, most: int) -> tuple[Disagreement, ...]:
    """The largest first: the larger of error and spread, and then their sum. Where all are right there is none."""
    p = predictions
    if not p.models:
        return ()
    scores = np.stack([model.values for model in p.models.values()], axis=1)
    known = np.flatnonzero(~np.isnan(scores).all(axis=1))
    error = np.zeros(p.n)
    spread = np.zeros(p.n)
    error[known] = np.nanmean(np.abs(scores[known] - p.labels[known, None]), axis=1)
    spread[known] = np.nanmax(scores[known], axis=1) - np.nanmin(scores[known], axis=1)
    order = np.lexsort((np.arange(p.n), -(error + spread), -np.maximum(error, spread)))
    return tuple(
        Disagreement(
            id=str(p.ids[i]),
            subset=str(p.subsets[i]),
            label=int(p.labels[i]),
            scores={
                name: None if np.isnan(score) else int(score) for name, score in zip(p.models, scores[i], strict=True)
            },
            error=float(error[i]),
            spread=int(spread[i]),
        )
        for i in order[:most]
        if error[i] > 0 or spread[i] > 0
    )
