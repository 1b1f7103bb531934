"""Intervals agree with what is published, and with statsmodels."""

from __future__ import annotations

import pytest
from statsmodels.stats.proportion import proportion_confint

from sbench_dag.stats.intervals import jeffreys, wilson

CASES = [(0, 1), (1, 1), (0, 47), (3, 47), (10, 20), (47, 47), (93, 298), (1, 14700)]


@pytest.mark.parametrize(("count", "n"), CASES)
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilsons_interval_is_that_of_statsmodels(count: int, n: int, confidence: float):
    rate = wilson(count, n, confidence)
    assert (rate.low, rate.high) == pytest.approx(proportion_confint(count, n, 1 - confidence, "wilson"), abs=1e-12)


@pytest.mark.parametrize(("count", "n"), CASES)
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_jeffreys_interval_is_that_of_statsmodels_but_for_its_ends(count: int, n: int, confidence: float):
    rate = jeffreys(count, n, confidence)
    low, high = proportion_confint(count, n, 1 - confidence, "jeffreys")
    assert rate.low == pytest.approx(low if count > 0 else 0.0, abs=1e-12)
    assert rate.high == pytest.approx(high if count < n else 1.0, abs=1e-12)


def test_nothing_of_47_may_still_be_one_in_thirteen():
    assert wilson(0, 47).high == pytest.approx(0.0756, abs=5e-5)
    assert jeffreys(0, 47).high == pytest.approx(0.0518, abs=5e-5)


def test_none_of_all_has_no_low_end_and_all_of_all_no_high_one():
    assert (jeffreys(0, 47).low, jeffreys(47, 47).high) == (0.0, 1.0)
    assert (wilson(0, 47).low, wilson(47, 47).high) == (0.0, 1.0)


@pytest.mark.parametrize("interval", [wilson, jeffreys])
def test_the_rate_of_nothing_is_unknown(interval):
    rate = interval(0, 0)
    assert (rate.rate, rate.low, rate.high) == (None, None, None)
