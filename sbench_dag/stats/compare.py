"""Is one better than the other? Of paired values, and of two rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, fisher_exact, ttest_rel


@dataclass(frozen=True)
class PairedUnits:
    """Two columns of values, compared unit by unit, with each unit counting once.

    difference: mean of b - a. wins: units where a is lower; ties are neither. p_t: paired t test. p_sign: sign test
    without ties. leave_one_out: least and greatest mean difference when one unit is left out.
    """

    n: int
    difference: float
    wins: int
    ties: int
    p_t: float | None
    p_sign: float | None
    leave_one_out: tuple[float, float] | None


def paired_units(a: np.ndarray, b: np.ndarray) -> PairedUnits:
    """a, b: (k,) e.g. two models' errors per subset, where lower is better."""
    differences = b - a
    wins, ties = int((differences > 0).sum()), int((differences == 0).sum())
    varies = len(a) > 1 and np.ptp(differences) > 0
    return PairedUnits(
        n=len(a),
        difference=float(differences.mean()),
        wins=wins,
        ties=ties,
        p_t=float(ttest_rel(a, b).pvalue) if varies else None,
        p_sign=float(binomtest(wins, len(a) - ties).pvalue) if len(a) > ties else None,
        leave_one_out=leave_one_out(differences),
    )


def leave_one_out(values: np.ndarray) -> tuple[float, float] | None:
    """The least and the greatest mean of all but one; None if there is only one."""
    if len(values) < 2:
        return None
    means = (values.sum() - values) / (len(values) - 1)
    return float(means.min()), float(means.max())


def fisher(count_a: int, n_a: int, count_b: int, n_b: int) -> float:
    """Fisher's exact test, two-sided: the p-value of two rates being the same."""
    result = fisher_exact([[count_a, n_a - count_a], [count_b, n_b - count_b]])
    return float(np.asarray(result)[1])
