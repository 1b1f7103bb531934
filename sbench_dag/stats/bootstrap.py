"""Intervals of means over strata when instances come in clusters.

Clusters are drawn with replacement within each stratum; strata that share clusters are drawn from together. All columns
see the same draws, so that their differences, and which one comes first, are had from the same resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

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
    """values: (n, columns), NaN where a column has none; strata, clusters: (n,), a name is one cluster everywhere.

    Clusters differ in size, so a mean is a ratio: the sum of what was drawn, by how many were drawn. A stratum of one
    cluster is the same in every resample.
    """
    rng = np.random.default_rng(seed)
    columns = values.shape[1]
    total, count = np.zeros((resamples, columns)), np.zeros((resamples, columns))
    means, strata_seen = np.zeros((resamples, columns)), np.zeros((resamples, columns))
    for block in _blocks(values, strata, clusters):
        for start in range(0, resamples, _CHUNK):
            rows = slice(start, min(start + _CHUNK, resamples))
            weights = _draws(rng, rows.stop - start, len(block[0].sums))
            for stratum in block:
                s, n = weights @ stratum.sums, weights @ stratum.counts
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


@dataclass(frozen=True)
class _Stratum:
    """Sums and counts of a block's clusters: (clusters, columns). Where every column has all values, counts is
    (clusters, 1), which saves half the work."""

    sums: np.ndarray
    counts: np.ndarray


def _blocks(values: np.ndarray, strata: np.ndarray, clusters: np.ndarray) -> Iterator[list[_Stratum]]:
    """Strata that share clusters, directly or through others, and have all their clusters in common."""
    names, stratum = np.unique(strata, return_inverse=True)
    cluster = np.unique(clusters, return_inverse=True)[1] + len(names)
    nodes = int(cluster.max()) + 1
    graph = coo_array((np.ones(len(strata)), (stratum, cluster)), shape=(nodes, nodes))
    block = connected_components(graph, directed=False)[1][stratum]
    for members in (np.flatnonzero(block == b) for b in np.unique(block)):
        local = np.unique(cluster[members], return_inverse=True)[1]
        found = []
        for name in np.unique(stratum[members]):
            mine = stratum[members] == name
            rows = members[mine]
            sums, counts = cluster_sums(values[rows], local[mine], int(local.max()) + 1)
            complete = counts.sum() == values[rows].size
            found.append(_Stratum(sums, counts[:, :1] if complete else counts))
        yield found


def cluster_sums(values: np.ndarray, cluster: np.ndarray, clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """(clusters, columns) the sum of each cluster's values and how many they are, without NaN.

    cluster: (n,) from 0 to clusters - 1.
    """
    adds = csr_array((np.ones(len(values)), (cluster, np.arange(len(values)))), shape=(clusters, len(values)))
    there = ~np.isnan(values)
    return adds @ np.where(there, values, 0.0), adds @ there.astype(float)


def _draws(rng: np.random.Generator, resamples: int, clusters: int) -> np.ndarray:
    """(resamples, clusters) how often each cluster was drawn; each row sums to the number of clusters."""
    drawn = rng.integers(0, clusters, (resamples, clusters))
    drawn += np.arange(resamples)[:, None] * clusters
    return np.bincount(drawn.reshape(-1), minlength=resamples * clusters).reshape(resamples, clusters).astype(float)


def _ratio(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
