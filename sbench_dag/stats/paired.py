"""Two cells on the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import binomtest

from sbench_dag.stats.bootstrap import cluster_sums, interval
from sbench_dag.stats.clustered import MIN_CLUSTERS, Interval, Method, resample
from sbench_dag.stats.few_clusters import cluster_t
from sbench_dag.stats.power import detectable_difference


@dataclass(frozen=True)
class Pair:
    """Cell a and cell b on n queries; the counts are of queries that both, one or neither succeeded at.

    difference: rate a - rate b, NaN if n is 0. interval: 95 %, by cluster; None if there is only one cluster. p: of the
    exact McNemar test, not adjusted. detectable: the least difference that the test finds with power .8 at this n and
    this share of discordant pairs; None if it finds none. equivalent_within: the least margin within which two one-sided
    tests at 5 % claim that a and b do not differ; 1 claims nothing.
    """

    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float
    interval: Interval | None
    p: float
    detectable: float | None
    equivalent_within: float


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p-value of the exact test that discordant pairs favour neither."""
    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """The p-values of one family of tests, adjusted; in the order given."""
    order = np.argsort(p)
    stepped = np.asarray(p, dtype=float)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted.tolist()


def compare_pair(a: np.ndarray, b: np.ndarray, clusters: np.ndarray) -> Pair:
    """a, b: (n,) of 0 and 1, the same queries; clusters: (n,) names. A query that either lacks (NaN) is left out."""
    return compare_all(np.stack([a, b], axis=1), clusters)[0, 1]


def compare_all(values: np.ndarray, clusters: np.ndarray) -> dict[tuple[int, int], Pair]:
    """Each two columns i < j of values, (n, columns), as compare_pair finds them, in the time of a few."""
    values = np.asarray(values, dtype=float)
    pairs = list(combinations(range(values.shape[1]), 2))
    left, right = [i for i, _ in pairs], [j for _, j in pairs]
    differences = values[:, left] - values[:, right]
    names, cluster = np.unique(clusters, return_inverse=True)
    sums, counts = cluster_sums(differences, cluster, len(names))
    resampled = resample(differences, clusters)
    return {
        (i, j): _pair(values[:, i], values[:, j], sums[:, k], counts[:, k], resampled[:, k])
        for k, (i, j) in enumerate(pairs)
    }


def _pair(a: np.ndarray, b: np.ndarray, sums: np.ndarray, counts: np.ndarray, resampled: np.ndarray) -> Pair:
    known = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[known] > 0, b[known] > 0
    n, only_a, only_b = len(a), int((a & ~b).sum()), int((b & ~a).sum())
    margin = _interval(sums, counts, resampled, 0.9)
    return Pair(
        n=n,
        both=int((a & b).sum()),
        only_a=only_a,
        only_b=only_b,
        neither=int((~a & ~b).sum()),
        difference=(only_a - only_b) / n if n else float("nan"),
        interval=_interval(sums, counts, resampled, 0.95),
        p=mcnemar(only_a, only_b),
        detectable=detectable_difference(n, (only_a + only_b) / n) if n else None,
        equivalent_within=max(abs(margin.low), abs(margin.high)) if margin else 1.0,
    )


def _interval(sums: np.ndarray, counts: np.ndarray, resampled: np.ndarray, confidence: float) -> Interval | None:
    sums, counts = sums[counts > 0], counts[counts > 0]
    if len(counts) < 2:
        return None
    if len(counts) < MIN_CLUSTERS:
        return Interval(*cluster_t(sums, counts, confidence), Method.CLUSTER_T)
    found = interval(resampled, confidence)
    assert found is not None
    return Interval(*found, Method.BOOTSTRAP)
