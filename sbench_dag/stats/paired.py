"""Two cells on the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import binomtest

from sbench_dag.stats.bootstrap import RESAMPLES, cluster_sums
from sbench_dag.stats.clustered import MIN_CLUSTERS, MIN_VARIED, Interval, Method, percentiles, resample
from sbench_dag.stats.few_clusters import difference_interval
from sbench_dag.stats.power import detectable_difference

SURE = 0.05
"""The level at which an adjusted p-value counts."""


@dataclass(frozen=True)
class Pair:
    """Cell a and cell b on n queries; the counts are of queries at which both, one or neither succeeded.

    difference: rate a - rate b, NaN if n is 0.
    interval: 95 %, by cluster; None if there are not two clusters.
    p: of the exact McNemar test, not adjusted.
    detectable: the least difference that the test finds with power .8 at this n and this share of discordant pairs;
        None if it finds none.
    equivalent_within: the least margin within which two one-sided tests at 5 % claim that a and b do not differ, i.e.
        which the 90 % interval keeps; 1 claims nothing.
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


def told_apart(p: float, low: float | None, high: float | None) -> bool:
    """Whether two cells differ: the adjusted p-value is small, and the interval by cluster leaves 0 out.

    The test takes queries of one cluster for independent, so it does not suffice; without an interval nothing does.
    """
    return p < SURE and low is not None and high is not None and (low > 0 or high < 0)


def compare_pair(a: np.ndarray, b: np.ndarray, clusters: np.ndarray) -> Pair:
    """a, b: (n,) of 0 and 1, on the same queries; clusters: (n,) names. A query that one of them lacks is left out."""
    return compare_all(np.stack([a, b], axis=1), clusters)[0, 1]


def compare_all(values: np.ndarray, clusters: np.ndarray) -> dict[tuple[int, int], Pair]:
    """Each two columns i < j of values, (n, columns), as compare_pair has them, much faster than one by one."""
    values = np.asarray(values, dtype=float)
    pairs = list(combinations(range(values.shape[1]), 2))
    differences = values[:, [i for i, _ in pairs]] - values[:, [j for _, j in pairs]]
    intervals = difference_intervals(differences, clusters, (0.95, 0.9))
    return {(i, j): _pair(values[:, i], values[:, j], *found) for (i, j), found in zip(pairs, intervals, strict=True)}


def difference_intervals(
    differences: np.ndarray,
    clusters: np.ndarray,
    confidences: Sequence[float] = (0.95,),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[list[Interval | None]]:
    """Of each column's mean, one interval for each confidence; None if there are not two clusters with values.

    differences: (n, columns) of -1, 0 and 1, NaN where a column leaves the row out; clusters: (n,) names.
    """
    names, cluster = np.unique(clusters, return_inverse=True)
    sums, counts = cluster_sums(differences, cluster, len(names))
    discordant, _ = cluster_sums(np.abs(differences), cluster, len(names))
    resampled = resample(differences, clusters, resamples, seed) if len(names) >= MIN_CLUSTERS else np.empty_like(sums)
    return [
        [_interval(*column, confidence) for confidence in confidences]
        for column in zip(sums.T, counts.T, discordant.T, resampled.T, strict=True)
    ]


def _interval(
    sums: np.ndarray, counts: np.ndarray, discordant: np.ndarray, resampled: np.ndarray, confidence: float
) -> Interval | None:
    there = counts > 0
    clusters = int(there.sum())
    if clusters < 2:
        return None
    if clusters < MIN_CLUSTERS or (discordant > 0).sum() < MIN_VARIED:
        ends = difference_interval(sums[there], counts[there], float(discordant.sum()), confidence)
        return Interval(*ends, Method.CLUSTER_T)
    return percentiles(resampled, clusters, confidence)


def _pair(a: np.ndarray, b: np.ndarray, interval: Interval | None, within: Interval | None) -> Pair:
    known = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[known] > 0, b[known] > 0
    n, only_a, only_b = len(a), int((a & ~b).sum()), int((b & ~a).sum())
    return Pair(
        n=n,
        both=int((a & b).sum()),
        only_a=only_a,
        only_b=only_b,
        neither=int((~a & ~b).sum()),
        difference=(only_a - only_b) / n if n else float("nan"),
        interval=interval,
        p=mcnemar(only_a, only_b),
        detectable=detectable_difference(n, (only_a + only_b) / n) if n else None,
        equivalent_within=max(-within.low, within.high) if within else 1.0,
    )
