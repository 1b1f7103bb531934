"""Intervals of proportions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from scipy.stats import beta, binomtest


@dataclass(frozen=True)
class Rate:
    """count of n, with its 95 % interval. All None where n is 0: there is no rate of nothing."""

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


@cache
def jeffreys(count: int, n: int, confidence: float = 0.95) -> Rate:
    """The rate count / n with the interval of Jeffreys' prior. Its low end is 0 for none and its high end 1 for all."""
    if n == 0:
        return Rate(count, n, None, None, None)
    tail, a, b = (1.0 - confidence) / 2, count + 0.5, n - count + 0.5
    low = float(beta.ppf(tail, a, b)) if count > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, a, b)) if count < n else 1.0
    return Rate(count, n, count / n, low, high)
