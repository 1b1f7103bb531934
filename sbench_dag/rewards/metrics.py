"""How far scores are off the labels. docs/reward-metrics.md says what each number means.

A score that is not there is NaN: it is left out of a metric, or, in an error, counted as `WORST`. It is never a number
from 1 to 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix, roc_auc_score

from sbench_dag.rewards.score import LABELS

WORST = float(LABELS[-1] - LABELS[0])
"""The error of no answer, whatever the label: the most that two scores can differ, as HELM counts it."""
SUCCESS = (4, 5)
"""From which label on a rollout is called a success. 4 is near completion, which is no success of a task."""


@dataclass(frozen=True)
class Tally:
    """Absolute errors, added up per subset. sums, counts: (k,)."""

    subsets: tuple[str, ...]
    sums: np.ndarray
    counts: np.ndarray

    @property
    def per_subset(self) -> np.ndarray:
        """(k,) each subset's mean absolute error; NaN where nothing was scored."""
        return np.divide(self.sums, self.counts, out=np.full(len(self.sums), np.nan), where=self.counts > 0)

    @property
    def group_wise(self) -> float | None:
        """The plain mean of the subsets' errors, over those where anything was scored."""
        means = self.per_subset
        return float(np.nanmean(means)) if self.counts.any() else None

    @property
    def instance_weighted(self) -> float | None:
        return float(self.sums.sum() / self.counts.sum()) if self.counts.any() else None


def tally(errors: np.ndarray, subsets: np.ndarray) -> Tally:
    """errors: (n,), NaN for what is left out."""
    names, index = np.unique(subsets, return_inverse=True)
    there = ~np.isnan(errors)
    sums = np.bincount(index, np.where(there, errors, 0.0), minlength=len(names))
    return Tally(tuple(names.tolist()), sums, np.bincount(index, there, minlength=len(names)))


def tally_of_table(errors: Mapping[str, float], counts: Mapping[str, int], digits: int = 3) -> Tally:
    """Of a printed table of mean absolute errors per subset: integer scores have integer sums, so these are recovered
    (exactly up to 10**digits instances per subset).

    Raises:
        ValueError: no integer sum gives an error as it is printed.
    """
    subsets = tuple(errors)
    n = np.array([counts[subset] for subset in subsets])
    printed = np.array([errors[subset] for subset in subsets])
    sums = np.rint(printed * n)
    # the printed digit may have been rounded either way
    wrong = np.abs(sums / n - printed) > 0.5 * 10.0**-digits + 1e-9
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(f"{subsets[i]}: no sum of {n[i]} whole errors has the mean {printed[i]}")
    return Tally(subsets, sums, n)


def absolute_errors(scores: np.ndarray, labels: np.ndarray, missing: float = np.nan) -> np.ndarray:
    """(n,). missing: the error where there is no score; NaN leaves it out."""
    errors = np.abs(scores - labels)
    return np.where(np.isnan(errors), missing, errors)


def skill(mae: float | None, best: float | None) -> float | None:
    """1 - MAE / MAE of the best constant on the same instances: 1 is perfect, 0 is as good as knowing nothing."""
    return None if mae is None or not best else 1.0 - mae / best


@dataclass(frozen=True)
class Detection:
    """Scores as a test for success, which is label >= threshold.

    auroc: None unless there are successes and failures. false_positives: failures with a score >= threshold, of
    `failures`.
    """

    threshold: int
    auroc: float | None
    false_positives: int
    failures: int


@dataclass(frozen=True)
class Preference:
    """Pairs of the same group with different labels. accuracy: how often the higher label has the higher score; a tie
    counts one half. None if there are no pairs."""

    accuracy: float | None
    pairs: int
    ties: int


@dataclass(frozen=True)
class Agreement:
    """Of the n instances that have a score. None: not defined, e.g. a correlation with what never changes.

    confusion: (5, 5), rows are labels, columns scores. signed_error: score - label, so positive is generous.
    within_cluster: over all pairs. within_subset: the accuracy is the plain mean of the subsets'.
    """

    n: int
    exact: float | None
    within_one: float | None
    signed_error: float | None
    kappa: float | None
    spearman: float | None
    kendall: float | None
    confusion: np.ndarray
    detection: tuple[Detection, ...]
    within_cluster: Preference
    within_subset: Preference


def agreement(scores: np.ndarray, labels: np.ndarray, subsets: np.ndarray, clusters: np.ndarray) -> Agreement:
    """All (n,). scores: whole numbers 1 to 5, or NaN."""
    there = ~np.isnan(scores)
    s, y = scores[there].astype(int), labels[there]
    subsets, clusters = subsets[there], clusters[there]
    varies = len(s) > 0 and np.ptp(s) > 0 and np.ptp(y) > 0
    return Agreement(
        n=len(s),
        exact=_mean(s == y),
        within_one=_mean(np.abs(s - y) <= 1),
        signed_error=_mean(s - y),
        kappa=_kappa(s, y),
        spearman=float(np.asarray(spearmanr(s, y))[0]) if varies else None,
        kendall=float(np.asarray(kendalltau(s, y))[0]) if varies else None,
        confusion=confusion_matrix(y, s, labels=LABELS) if len(s) else np.zeros((5, 5), dtype=int),
        detection=tuple(_detection(s, y, threshold) for threshold in SUCCESS),
        within_cluster=_preference(s, y, np.unique(clusters, return_inverse=True)[1]),
        within_subset=_preference(s, y, np.unique(subsets, return_inverse=True)[1], by_group=True),
    )


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _kappa(scores: np.ndarray, labels: np.ndarray) -> float | None:
    """Quadratic-weighted."""
    if not len(scores) or (np.ptp(scores) == 0 and np.ptp(labels) == 0):
        return None  # chance alone agrees perfectly
    return float(cohen_kappa_score(labels, scores, labels=LABELS, weights="quadratic"))


def _detection(scores: np.ndarray, labels: np.ndarray, threshold: int) -> Detection:
    success = labels >= threshold
    both = success.any() and not success.all()
    auroc = float(roc_auc_score(success, scores)) if both else None
    return Detection(threshold, auroc, int((scores[~success] >= threshold).sum()), int((~success).sum()))


def _preference(scores: np.ndarray, labels: np.ndarray, groups: np.ndarray, by_group: bool = False) -> Preference:
    """groups: (n,) 0, 1, ... Counted from each group's table of labels and scores, so large groups cost nothing."""
    tables = np.zeros((int(groups.max(initial=-1)) + 1, 5, 5), dtype=np.int64)
    np.add.at(tables, (groups, labels - 1, scores - 1), 1)
    higher = np.arange(5)[:, None] > np.arange(5)
    pairs = np.einsum("gas,gbt,ab->g", tables, tables, higher)
    right = np.einsum("gas,gbt,ab,st->g", tables, tables, higher, higher)
    ties = np.einsum("gas,gbs,ab->g", tables, tables, higher)
    if not pairs.any():
        return Preference(None, 0, 0)
    credit, there = right + ties / 2, pairs > 0
    accuracy = (credit[there] / pairs[there]).mean() if by_group else credit.sum() / pairs.sum()
    return Preference(float(accuracy), int(pairs.sum()), int(ties.sum()))


def best_constant(labels: np.ndarray, subsets: np.ndarray) -> tuple[int, Tally]:
    """The score with the least group-wise error on these very instances, and its errors.

    Raises:
        ValueError: there are no instances.
    """
    if not len(labels):
        raise ValueError("no instances, so no constant is best")
    tallies = {score: tally(np.abs(labels - float(score)), subsets) for score in LABELS}
    score = min(LABELS, key=lambda score: tallies[score].group_wise or 0.0)
    return score, tallies[score]
