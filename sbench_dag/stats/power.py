"""How much of a difference between two cells the exact McNemar test can see."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr
from scipy.stats import binom

_PRECISION = 1e-4  # of a difference: a hundredth of a point
_FAR = 7  # standard deviations; what lies further off is no matter of any digit shown


def mcnemar_power(n: int, discordant: float, difference: float, alpha: float = 0.05) -> float:
    """How often the test rejects at alpha, given n pairs of which this share is discordant.

    difference: rate a - rate b. ValueError if it is more than the share of discordant pairs.
    """
    if not abs(difference) <= discordant <= 1:
        raise ValueError(
            f"difference {difference:g} with a share of discordant pairs of {discordant:g}: "
            "give a share of at most 1, and a difference within it"
        )
    if n == 0 or discordant == 0:
        return 0.0
    pairs, share, most = _rejections(n, discordant, alpha)
    favours_a = (discordant + difference) / (2 * discordant)
    return float(share @ (bdtr(most, pairs, favours_a) + bdtr(most, pairs, 1 - favours_a)))


def detectable_difference(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The least difference that the test finds this often; None if it does not even when all discordant pairs agree."""
    if mcnemar_power(n, discordant, discordant, alpha) < power:
        return None

    def missing(difference: float) -> float:
        return power - mcnemar_power(n, discordant, difference, alpha)

    return float(np.asarray(brentq(missing, 0.0, discordant, xtol=_PRECISION)))


def power_table(
    ns: Sequence[int], differences: Sequence[float], discordant: float, alpha: float = 0.05
) -> list[list[float]]:
    """The power for each n, a row, and each difference."""
    return [[mcnemar_power(n, discordant, difference, alpha) for difference in differences] for n in ns]


@lru_cache(maxsize=256)
def _rejections(n: int, discordant: float, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of discordant pairs at which the test can reject, how often each occurs, and the most of the pairs that
    may favour one cell for it to do so."""
    middle, far = n * discordant, _FAR * np.sqrt(n * discordant * (1 - discordant)) + 1
    pairs = np.arange(max(0, int(middle - far)), min(n, int(middle + far)) + 1)
    most = binom.ppf(alpha / 2, pairs, 0.5)
    most = np.where(bdtr(most, pairs, 0.5) <= alpha / 2, most, most - 1)
    can = (most >= 0) & (pairs > 0)
    return pairs[can], binom.pmf(pairs[can], n, discordant), most[can]
