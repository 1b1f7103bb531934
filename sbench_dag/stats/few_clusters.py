"""Intervals from the variance between clusters, for when a resample of them would vary too little.

Where little happened, or in few clusters, the variance that is seen is mostly too small: it may even be 0. So two
queries are added to it, in clusters of which all queries agree: much where nothing is known, next to nothing where much
is. docs/statistics.md has how often these intervals are right, with and without.

sums, counts: (clusters,), at least two clusters, each with a value.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

_ADDED = 2  # queries


def rate_interval(sums: np.ndarray, counts: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a rate at its effective n: n by the design effect, and by what so few clusters know of it.

    The design effect is the variance between clusters by that of independent queries, and at least 1.
    """
    n, rate = counts.sum(), sums.sum() / counts.sum()
    between, within = _squares(sums, counts), n * rate * (1 - rate)
    design_effect = max(1.0, (between + _ADDED * _size(counts)) / (within + _ADDED))
    z, student = ndtri(0.5 + confidence / 2), stdtrit(len(counts) - 1, 0.5 + confidence / 2)
    return wilson_of(float(rate), float(n / design_effect * (z / student) ** 2), confidence)


def difference_interval(
    sums: np.ndarray, counts: np.ndarray, squares: float, confidence: float = 0.95
) -> tuple[float, float]:
    """The t interval of a mean difference whose units are clusters, within -1 and 1.

    squares: the sum of the squares of the differences, which is how many pairs are discordant.
    """
    n, mean = counts.sum(), sums.sum() / counts.sum()
    between, within = _squares(sums, counts), squares - n * mean**2
    error = np.sqrt(max(between + _ADDED * _size(counts), within + _ADDED)) / n
    half = stdtrit(len(counts) - 1, 0.5 + confidence / 2) * error
    return float(max(-1.0, mean - half)), float(min(1.0, mean + half))


def wilson_of(rate: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for an n that is no whole number, which scipy does not take."""
    z = ndtri(0.5 + confidence / 2)
    half = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    ends = (rate + z**2 / (2 * n) + np.array([-half, half])) / (1 + z**2 / n)
    return float(ends[0]) if rate > 0 else 0.0, float(ends[1]) if rate < 1 else 1.0


def _squares(sums: np.ndarray, counts: np.ndarray) -> float:
    """n**2 times the linearised variance of the mean, which is a ratio since clusters differ in size."""
    residuals = sums - sums.sum() / counts.sum() * counts
    return len(counts) / (len(counts) - 1) * float(residuals @ residuals)


def _size(counts: np.ndarray) -> float:
    """How many queries are in a query's cluster, on average."""
    return float(counts @ counts / counts.sum())
