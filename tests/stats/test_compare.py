"""Comparisons by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.stats.compare import fisher, leave_one_out, paired_units


def test_each_unit_counts_once():
    found = paired_units(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 2.0, 7.0]))
    assert (found.n, found.difference, found.wins, found.ties) == (4, 0.75, 2, 1)
    assert found.leave_one_out == (0.0, pytest.approx(4 / 3))
    assert found.p_sign == 1.0


def test_where_nothing_differs_there_is_no_p_value():
    found = paired_units(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    assert (found.p_t, found.p_sign, found.difference) == (None, None, 0.0)
    assert leave_one_out(np.array([1.0])) is None


def test_fishers_tea():
    assert fisher(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)
