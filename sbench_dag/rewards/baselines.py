"""What a reward model has to beat: predictors that have seen no video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sbench_dag.rewards.score import LABELS


@dataclass(frozen=True)
class Baseline:
    """errors: (n,) absolute errors, the expected ones where it draws its scores at random.

    scores: (n,) where it always says the same.
    """

    name: str
    errors: np.ndarray
    scores: np.ndarray | None = None


def constant(labels: np.ndarray, score: int) -> Baseline:
    """Always the same score."""
    return _certain(f"always {score}", labels, np.full(len(labels), float(score)))


def oracle_median(labels: np.ndarray, subsets: np.ndarray) -> Baseline:
    """The lower median of each subset's own labels, which it has seen: the best that one score per subset can do."""
    scores = np.empty(len(labels))
    for subset in np.unique(subsets):
        members = subsets == subset
        scores[members] = np.quantile(labels[members], 0.5, method="inverted_cdf")
    return _certain("oracle median", labels, scores)


def oracle_marginal(labels: np.ndarray, subsets: np.ndarray) -> Baseline:
    """Draws from each subset's own distribution of labels, which it has seen."""
    errors = np.empty(len(labels))
    for subset in np.unique(subsets):
        members = subsets == subset
        shares = np.bincount(labels[members], minlength=6)[1:] / members.sum()
        errors[members] = _expected(labels[members], shares)
    return Baseline("oracle marginal", errors)


def uniform(labels: np.ndarray) -> Baseline:
    """Draws each score with the same probability."""
    return Baseline("uniform random", _expected(labels, np.full(5, 0.2)))


def baselines(labels: np.ndarray, subsets: np.ndarray) -> list[Baseline]:
    """All of them. labels: (n,) 1 to 5; subsets: (n,)."""
    constants = [constant(labels, score) for score in LABELS]
    return [*constants, oracle_median(labels, subsets), oracle_marginal(labels, subsets), uniform(labels)]


def _certain(name: str, labels: np.ndarray, scores: np.ndarray) -> Baseline:
    return Baseline(name, np.abs(scores - labels), scores)


def _expected(labels: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(n,) the mean absolute error of a score drawn with these probabilities (5,)."""
    return np.abs(labels[:, None] - np.array(LABELS)) @ shares
