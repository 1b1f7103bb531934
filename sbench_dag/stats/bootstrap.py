"""Intervals of means over strata when instances come in clusters.

Clusters are drawn with replacement within each stratum. All columns see the same draws, so that their differences, and
which one comes first, are had from the same resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
_CHUNK = 500  # resamples at a time, so that a stratum of a thousand clusters takes a few megabytes


@dataclass(frozen=True)
class Resampled:
    """Both means of every column in every resample, (resamples, columns). NaN: no value was drawn.

    stratified: plain mean of the strata's means. pooled: mean over instances.
    """

    stratified: np.ndarray
    pooled: np.ndarray


def cluster_bootstrap(
    values: np.ndarray, strata: np.ndarray, clusters: np.ndarray, resamples: int = RESAMPLES, seed: int = 0
) -> Resampled:
    """values: (n, columns), NaN where a column has none; strata, clusters: (n,), clusters named within their stratum.

    Clusters differ in size, so a mean is a ratio: the sum of what was drawn, by how many were drawn. A stratum of one
    cluster is the same in every resample.
    """
    rng = np.random.default_rng(seed)
    columns = values.shape[1]
    total, count = np.zeros((resamples, columns)), np.zeros((resamples, columns))
    means, strata_seen = np.zeros((resamples, columns)), np.zeros((resamples, columns))
    for sums, counts in _cluster_sums(values, strata, clusters):
        # where every column has all values, one count serves them all
        shared = counts[:, :1] if (counts == counts[:, :1]).all() else counts
        for start in range(0, resamples, _CHUNK):
            rows = slice(start, min(start + _CHUNK, resamples))
            weights = _draws(rng, rows.stop - start, len(sums))
            s, n = weights @ sums, weights @ shared
            total[rows] += s
            count[rows] += n
            there = np.broadcast_to(n > 0, s.shape)
            means[rows] += np.divide(s, n, out=np.zeros_like(s), where=there)
            strata_seen[rows] += there
    return Resampled(_ratio(means, strata_seen), _ratio(total, count))


def interval(values: np.ndarray, confidence: float = 0.95) -> tuple[float, float] | None:
    """The percentile interval of (resamples,) values; None if none of them is a number."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high)


def first_place(values: np.ndarray) -> np.ndarray:
    """(columns,) how often each column is the least, in a share of the resamples; a tie is shared out."""
    filled = np.where(np.isnan(values), np.inf, values)
    first = filled == filled.min(axis=1, keepdims=True)
    return (first / first.sum(axis=1, keepdims=True)).mean(axis=0)


def _cluster_sums(
    values: np.ndarray, strata: np.ndarray, clusters: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Per stratum, sums and counts of each cluster: (clusters, columns)."""
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        index = np.unique(clusters[members], return_inverse=True)[1]
        order = np.argsort(index, kind="stable")
        starts = np.searchsorted(index[order], np.arange(index.max() + 1))
        rows = members[order]
        yield np.add.reduceat(filled[rows], starts), np.add.reduceat(there[rows].astype(float), starts)


def _draws(rng: np.random.Generator, resamples: int, clusters: int) -> np.ndarray:
    """(resamples, clusters) how often each cluster was drawn; each row sums to the number of clusters."""
    drawn = rng.integers(0, clusters, (resamples, clusters))
    drawn += np.arange(resamples)[:, None] * clusters
    return np.bincount(drawn.reshape(-1), minlength=resamples * clusters).reshape(resamples, clusters).astype(float)


def _ratio(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
