"""Intervals from the variance between clusters, for when there are too few of them to resample."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, t


def wilson_effective(sums: np.ndarray, counts: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a rate at its effective n: n by the design effect, which is at least 1.

    sums, counts: (clusters,), two clusters or more. Few clusters know their variance badly, so Student's t takes the
    place of the normal distribution.
    """
    clusters, n, rate = len(counts), counts.sum(), sums.sum() / counts.sum()
    alone = rate * (1 - rate) / n
    design_effect = max(1.0, ratio_variance(sums, counts) / alone) if alone > 0 else 1.0
    z, student = norm.ppf(0.5 + confidence / 2), t.ppf(0.5 + confidence / 2, clusters - 1)
    return _wilson(float(rate), float(n / design_effect * (z / student) ** 2), float(z))


def cluster_t(sums: np.ndarray, counts: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """The t interval of a mean whose units are clusters. sums, counts: (clusters,), two clusters or more."""
    mean = sums.sum() / counts.sum()
    half = t.ppf(0.5 + confidence / 2, len(counts) - 1) * np.sqrt(ratio_variance(sums, counts))
    return float(mean - half), float(mean + half)


def ratio_variance(sums: np.ndarray, counts: np.ndarray) -> float:
    """The linearised variance of the mean of clusters that differ in size."""
    clusters, n = len(counts), counts.sum()
    residuals = sums - sums.sum() / n * counts
    return float(clusters / (clusters - 1) * (residuals**2).sum() / n**2)


def _wilson(rate: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval for an n that is no whole number, which scipy does not take."""
    middle, shrink = (rate + z**2 / (2 * n)), 1 + z**2 / n
    half = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return max(0.0, float((middle - half) / shrink)), min(1.0, float((middle + half) / shrink))
