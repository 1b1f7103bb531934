"""Rates of queries that come in clusters, which are houses, with intervals that know it.

Queries of one house are alike, so n of them say less than n of n houses. docs/statistics.md says which interval is
used when, and how often each is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import ndtr, stdtrit

from sbench_dag.stats.bootstrap import RESAMPLES, cluster_bootstrap, cluster_sums, interval
from sbench_dag.stats.few_clusters import rate_interval
from sbench_dag.stats.intervals import wilson

MIN_CLUSTERS = 50
MIN_VARIED = 20  # clusters with a success, and with a failure; resamples of fewer know nothing of rare events


class Method(StrEnum):
    """What an interval comes from, in the words of a page."""

    BOOTSTRAP = "cluster bootstrap"
    EFFECTIVE = "Wilson with the effective n"
    CLUSTER_T = "cluster t"
    INDEPENDENT = "Wilson, no clusters to resample"


@dataclass(frozen=True)
class Interval:
    low: float
    high: float
    method: Method


@dataclass(frozen=True)
class Clustered:
    """Rates of some columns over the same rows.

    rates: (columns,), NaN where a column has no value, and there the interval is None. resampled: (resamples, columns),
    from the same draws of clusters for all columns, so that whatever is computed of a row is a joint draw. clusters: in
    all rows; a column may have values in fewer.
    """

    rates: np.ndarray
    intervals: tuple[Interval | None, ...]
    resampled: np.ndarray
    clusters: int


def clustered(values: np.ndarray, clusters: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> Clustered:
    """values: (n, columns) of 0 and 1, NaN where a column leaves the row out; clusters: (n,) names. 95 % intervals."""
    names, cluster = np.unique(clusters, return_inverse=True)
    sums, counts = cluster_sums(values, cluster, len(names))
    resampled = resample(values, clusters, resamples, seed)
    intervals = tuple(_interval(*column) for column in zip(sums.T, counts.T, resampled.T, strict=True))
    total, n = sums.sum(axis=0), counts.sum(axis=0)
    rates = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return Clustered(rates, intervals, resampled, len(names))


def resample(values: np.ndarray, clusters: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """(resamples, columns) means of the columns of values, (n, columns), over clusters drawn with replacement."""
    if not len(values):
        return np.full((resamples, values.shape[1]), np.nan)
    return cluster_bootstrap(values, np.zeros(len(values)), clusters, resamples, seed).pooled


def percentiles(resampled: np.ndarray, clusters: int, confidence: float = 0.95) -> Interval:
    """The percentile interval, a little wider for few clusters, whose resamples vary too little.

    As the t interval is to the normal one that divides by n instead of n - 1 (Hesterberg 2015).
    """
    student = stdtrit(clusters - 1, 0.5 + confidence / 2)
    found = interval(resampled, 1 - 2 * float(ndtr(-student * np.sqrt(clusters / (clusters - 1)))))
    assert found is not None, "values in this many clusters are in some resample"
    return Interval(*found, Method.BOOTSTRAP)


def _interval(sums: np.ndarray, counts: np.ndarray, resampled: np.ndarray) -> Interval | None:
    sums, counts = sums[counts > 0], counts[counts > 0]
    if not len(counts):
        return None
    if len(counts) == 1:
        rate = wilson(int(sums[0]), int(counts[0]))
        assert rate.low is not None and rate.high is not None
        return Interval(rate.low, rate.high, Method.INDEPENDENT)
    if len(counts) < MIN_CLUSTERS or min((sums > 0).sum(), (sums < counts).sum()) < MIN_VARIED:
        return Interval(*rate_interval(sums, counts), Method.EFFECTIVE)
    return percentiles(resampled, len(counts))
