"""The 95 % intervals hold the truth about as often as they say, in studies that are drawn.

Of 1,500 studies, a share of 95 % comes out as 93.9 to 96.1 % in nineteen of twenty seeds. benchmarks/coverage.py
measures more.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import covered, difference_ends, draw_differences, draw_rates, rate_ends, sizes_of
from sbench_dag.stats.bootstrap import interval
from sbench_dag.stats.clustered import resample
from sbench_dag.stats.few_clusters import wilson_of

STUDIES = 1500
RESAMPLES = 500
MANY = [(50, True, 0.5, 0.0), (50, False, 0.5, 0.1), (80, False, 0.5, 0.3), (200, True, 0.1, 0.3)]
FEW = [
    (5, True, 0.1, 0.3),
    (5, False, 0.5, 0.3),
    (10, False, 0.9, 0.3),
    (20, False, 0.5, 0.3),
    (30, False, 0.1, 0.1),
    (49, True, 0.5, 0.0),
]


@pytest.mark.parametrize(("houses", "equal", "rate", "icc"), MANY)
def test_the_bootstrap_of_many_houses_covers_a_rate(houses: int, equal: bool, rate: float, icc: float):
    sizes = sizes_of(houses, equal)
    drawn = draw_rates(np.random.default_rng(1), sizes, rate, icc, STUDIES)
    assert 0.93 <= covered(rate_ends(drawn, sizes, RESAMPLES), rate) <= 0.97


@pytest.mark.parametrize(("houses", "equal", "rate", "icc"), FEW)
def test_the_effective_n_of_few_houses_covers_a_rate(houses: int, equal: bool, rate: float, icc: float):
    sizes = sizes_of(houses, equal)
    drawn = draw_rates(np.random.default_rng(2), sizes, rate, icc, STUDIES)
    assert covered(rate_ends(drawn, sizes, RESAMPLES), rate) >= 0.93


@pytest.mark.parametrize(("houses", "rate"), [(50, 0.01), (80, 0.97)])
def test_a_rare_event_in_many_houses_is_covered_which_percentiles_do_not(houses: int, rate: float):
    sizes = sizes_of(houses, equal=True)
    drawn = draw_rates(np.random.default_rng(3), sizes, rate, 0.3, STUDIES)
    assert covered(rate_ends(drawn, sizes, RESAMPLES), rate) >= 0.93
    resampled = resample(drawn, np.arange(houses).repeat(sizes), RESAMPLES)
    assert covered([ends for column in resampled.T if (ends := interval(column))], rate) < 0.91


@pytest.mark.parametrize("houses", [20, 80])
def test_wilsons_interval_of_alike_queries_covers_too_little_here_too(houses: int):
    sizes = sizes_of(houses, equal=False)
    drawn = draw_rates(np.random.default_rng(4), sizes, 0.5, 0.3, STUDIES)
    assert covered([wilson_of(rate, len(drawn)) for rate in drawn.mean(axis=0)], 0.5) < 0.85


@pytest.mark.parametrize(
    ("houses", "equal", "only", "icc"),
    [(80, True, (0.15, 0.15), 0.1), (80, False, (0.2, 0.1), 0.1), (200, True, (0.1, 0.02), 0.3)],
)
def test_the_bootstrap_of_many_houses_covers_a_difference(
    houses: int, equal: bool, only: tuple[float, float], icc: float
):
    sizes = sizes_of(houses, equal)
    drawn = draw_differences(np.random.default_rng(5), sizes, only, icc, STUDIES)
    assert 0.93 <= covered(difference_ends(drawn, sizes, RESAMPLES), only[0] - only[1]) <= 0.97


@pytest.mark.parametrize(
    ("houses", "equal", "only", "icc"),
    [(5, False, (0.15, 0.15), 0.3), (10, True, (0.1, 0.02), 0.3), (49, False, (0.2, 0.1), 0.1)],
)
def test_the_t_interval_of_few_houses_covers_a_difference(
    houses: int, equal: bool, only: tuple[float, float], icc: float
):
    sizes = sizes_of(houses, equal)
    drawn = draw_differences(np.random.default_rng(6), sizes, only, icc, STUDIES)
    assert covered(difference_ends(drawn, sizes, RESAMPLES), only[0] - only[1]) >= 0.93
