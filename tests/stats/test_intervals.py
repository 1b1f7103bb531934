"""Intervals agree with what is published."""

from __future__ import annotations

import pytest

from sbench_dag.stats.intervals import wilson


def test_nothing_of_47_may_still_be_one_in_thirteen():
    assert wilson(0, 47).high == pytest.approx(0.0756, abs=5e-5)


def test_the_rate_of_nothing_is_unknown():
    rate = wilson(0, 0)
    assert (rate.rate, rate.low, rate.high) == (None, None, None)
