"""Intervals of proportions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from scipy.stats import binomtest


@dataclass(frozen=True)
class Rate:
    """count of n, with its Wilson 95 % interval. All None where n is 0: there is no rate of nothing."""

    count: int
    n: int
    rate: float | None
    low: float | None
    high: float | None


@cache  # scipy computes a p-value along with it, which costs a millisecond
def wilson(count: int, n: int, confidence: float = 0.95) -> Rate:
    """The rate count / n."""
    if n == 0:
        return Rate(count, n, None, None, None)
    interval = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return Rate(count, n, count / n, float(interval.low), float(interval.high))
