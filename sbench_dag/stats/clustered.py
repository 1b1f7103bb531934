"""Rates of queries that come in houses, with intervals that know it.

Queries of one house are alike, so n of them say less than n of n houses. With many clusters, they are resampled; with
few, a resample of them varies too little, and the interval comes from the variance between clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sbench_dag.stats.bootstrap import RESAMPLES, cluster_bootstrap, cluster_sums, interval
from sbench_dag.stats.few_clusters import wilson_effective
from sbench_dag.stats.intervals import wilson

MIN_CLUSTERS = 50


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
    from the same draws of clusters for all columns, so what is computed from a row is one joint draw.
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
    columns = range(values.shape[1])
    intervals = tuple(_interval(sums[:, i], counts[:, i], resampled[:, i]) for i in columns)
    return Clustered(ratio(sums, counts), intervals, resampled, len(names))


def resample(values: np.ndarray, clusters: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """(resamples, columns) means of the columns of values, (n, columns), over clusters drawn with replacement."""
    if not len(values):
        return np.full((resamples, values.shape[1]), np.nan)
    return cluster_bootstrap(values, np.zeros(len(values)), clusters, resamples, seed).pooled


def ratio(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(columns,) means from (clusters, columns) sums and counts, NaN where nothing was counted."""
    total, n = sums.sum(axis=0), counts.sum(axis=0)
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)


def _interval(sums: np.ndarray, counts: np.ndarray, resampled: np.ndarray) -> Interval | None:
    sums, counts = sums[counts > 0], counts[counts > 0]
    if not len(counts):
        return None
    if len(counts) == 1:
        rate = wilson(int(sums[0]), int(counts[0]))
        assert rate.low is not None and rate.high is not None
        return Interval(rate.low, rate.high, Method.INDEPENDENT)
    if len(counts) < MIN_CLUSTERS:
        return Interval(*wilson_effective(sums, counts), Method.EFFECTIVE)
    found = interval(resampled)
    assert found is not None
    return Interval(*found, Method.BOOTSTRAP)
