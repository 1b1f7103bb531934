"""Errors of scores against labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.rewards.rubric import LABELS


@dataclass(frozen=True)
class BaselineError:
    """Mean absolute error of a trivial predictor on n labels."""

    baseline: str
    mae: float
    n: int


def mean_absolute_error(scores: Sequence[float], labels: Sequence[int]) -> float:
    """
    Raises:
        ValueError: there is nothing to compare, or not the same number of both.
    """
    if len(scores) != len(labels) or not labels:
        raise ValueError(f"{len(scores)} scores for {len(labels)} labels")
    return float(np.abs(np.asarray(scores, dtype=float) - np.asarray(labels, dtype=float)).mean())


def baselines(labels: Sequence[int]) -> list[BaselineError]:
    """What a model has to beat: every constant, and the median of the very labels it is scored on."""
    if not labels:
        return []
    found = [(f"constant-{score}", float(score)) for score in LABELS]
    found.append(("median", float(np.median(labels))))
    return [
        BaselineError(name, mean_absolute_error([score] * len(labels), labels), len(labels)) for name, score in found
    ]
