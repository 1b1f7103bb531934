"""How much of a difference between two cells the exact McNemar test can see."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr
from scipy.stats import binom

_PRECISION = 1e-6


def mcnemar_power(n: int, discordant: float, difference: float, alpha: float = 0.05) -> float:
    """How often the test rejects at alpha, of n pairs of which a share is discordant.

    difference: rate a - rate b, at most the share of discordant pairs. ValueError otherwise.
    """
    if not 0 <= abs(difference) <= discordant <= 1:
        raise ValueError(
            f"difference {difference} at a share of discordant pairs of {discordant}: "
            "give a share from 0 to 1 and a difference within it"
        )
    if n == 0 or discordant == 0:
        return 0.0
    pairs, least = _rejects(n, alpha)
    favours_a = (discordant + difference) / (2 * discordant)
    rejected = np.zeros(n + 1)
    can = least >= 0
    k, d = least[can], pairs[can]
    rejected[can] = bdtr(k, d, favours_a) + bdtr(k, d, 1 - favours_a)
    return float(binom.pmf(pairs, n, discordant) @ rejected)


def detectable_difference(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The least difference that is found this often; None if not even the greatest is, the share of discordant pairs."""
    if n == 0 or mcnemar_power(n, discordant, discordant, alpha) < power:
        return None
    return float(
        brentq(lambda d: mcnemar_power(n, discordant, d, alpha) - power, 0.0, discordant, xtol=_PRECISION)  # type: ignore[arg-type]
    )


def power_table(
    ns: Sequence[int], differences: Sequence[float], discordant: float, alpha: float = 0.05
) -> list[list[float]]:
    """A row for each n: the power at each difference."""
    return [[mcnemar_power(n, discordant, d, alpha) for d in differences] for n in ns]


@cache
def _rejects(n: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """For 0 to n discordant pairs: the most that may favour one cell for the test to reject, -1 where it never does."""
    pairs = np.arange(n + 1)
    k = binom.ppf(alpha / 2, pairs, 0.5)  # the least k whose cdf is alpha / 2 or more
    k = np.where(bdtr(k, pairs, 0.5) <= alpha / 2, k, k - 1)
    k[0] = -1
    return pairs, k
