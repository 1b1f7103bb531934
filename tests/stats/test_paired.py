"""Two cells on the same queries: tests by statsmodels, intervals by house."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.multitest import multipletests

from sbench_dag.stats.clustered import MIN_CLUSTERS, Method
from sbench_dag.stats.paired import Pair, compare_all, compare_pair, difference_intervals, holm, mcnemar

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
NAN = float("nan")


def cells(houses: int, each: int = 4, columns: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (rng.random((houses * each, columns)) < 0.4).astype(float), np.arange(houses).repeat(each).astype(str)


def test_mcnemars_anchor():
    assert mcnemar(39, 32) == pytest.approx(0.4767, abs=5e-5)


@pytest.mark.parametrize(("only_a", "only_b"), [(39, 32), (0, 1), (0, 6), (5, 5), (12, 30), (400, 330)])
def test_mcnemars_p_value_is_that_of_statsmodels(only_a: int, only_b: int):
    theirs = mcnemar_of_statsmodels([[7, only_a], [only_b, 11]], exact=True)
    assert mcnemar(only_a, only_b) == pytest.approx(theirs.pvalue, abs=1e-12)
    assert mcnemar(only_b, only_a) == mcnemar(only_a, only_b)


def test_without_discordant_pairs_nothing_speaks_against_no_difference():
    assert mcnemar(0, 0) == 1.0


@pytest.mark.parametrize(
    "p", [[], [0.2], [0.01, 0.04, 0.03, 0.005], [0.02, 0.02, 0.02], [1.0, 0.6, 0.9], [0.04, 0.03, 0.5, 0.04, 0.0]]
)
def test_holms_p_values_are_those_of_statsmodels(p: list[float]):
    theirs = multipletests(p, method="holm")[1].tolist() if p else []
    assert holm(p) == pytest.approx(theirs)


def test_a_pair_counts_queries_and_leaves_out_what_one_cell_lacks():
    a = np.array([1, 1, 1, 0, 0, NAN, 1])
    b = np.array([1, 0, 0, 1, 0, 1, NAN])
    pair = compare_pair(a, b, np.array(list("xxyyzzz")))
    assert (pair.n, pair.both, pair.only_a, pair.only_b, pair.neither) == (5, 1, 2, 1, 1)
    assert (pair.difference, pair.p) == (pytest.approx(0.2), 1.0)
    assert pair.interval is not None and pair.interval.method == Method.CLUSTER_T


def test_all_pairs_at_once_are_the_pairs_one_by_one():
    values, clusters = cells(60, columns=4)
    values[::7, 2] = NAN
    values[clusters >= "3", 3] = NAN
    found = compare_all(values, clusters)
    assert set(found) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    for (i, j), pair in found.items():
        assert pair == compare_pair(values[:, i], values[:, j], clusters)
    methods = {pair.interval.method for pair in found.values() if pair.interval}
    assert methods == {Method.BOOTSTRAP, Method.CLUSTER_T}


def test_swapped_cells_swap_the_signs():
    values, clusters = cells(30)
    pair, swapped = compare_pair(*values.T, clusters), compare_pair(*values.T[::-1], clusters)
    assert pair.interval and swapped.interval
    assert (swapped.difference, swapped.p, swapped.detectable) == (-pair.difference, pair.p, pair.detectable)
    assert (swapped.interval.low, swapped.interval.high) == pytest.approx((-pair.interval.high, -pair.interval.low))
    assert swapped.equivalent_within == pytest.approx(pair.equivalent_within)


@pytest.mark.parametrize("houses", [20, 80])
def test_the_margin_of_equivalence_is_the_farther_end_of_the_90_percent_interval(houses: int):
    values, clusters = cells(houses)
    pair = compare_pair(*values.T, clusters)
    differences = (values[:, 0] - values[:, 1])[:, None]
    ((within, outer),) = difference_intervals(differences, clusters, (0.9, 0.95))
    assert within and outer and pair.interval == outer
    assert pair.equivalent_within == max(abs(within.low), abs(within.high))
    assert outer.low < within.low < pair.difference < within.high < outer.high


def test_where_houses_differ_much_the_interval_is_students_of_the_houses():
    rng = np.random.default_rng(2)
    a, b = (rng.random((2, 20, 100)) < rng.beta(0.5, 0.5, (2, 20, 1))).astype(float)
    pair = compare_pair(a.reshape(-1), b.reshape(-1), np.arange(20).repeat(100))
    means = (a - b).mean(axis=1)
    low, high = t.interval(0.95, 19, means.mean(), means.std(ddof=1) / np.sqrt(20))
    assert pair.interval and (pair.interval.low, pair.interval.high) == pytest.approx((low, high), rel=0.02)


@pytest.mark.parametrize(("houses", "method"), [(MIN_CLUSTERS - 1, Method.CLUSTER_T), (MIN_CLUSTERS, Method.BOOTSTRAP)])
def test_the_number_of_houses_chooses_the_method(houses: int, method: Method):
    values, clusters = cells(houses)
    pair = compare_pair(*values.T, clusters)
    assert pair.interval and pair.interval.method == method


@pytest.mark.parametrize("houses", [3, 80])
def test_cells_that_agree_everywhere_may_still_differ_elsewhere(houses: int):
    a = cells(houses)[0][:, 0]
    pair = compare_pair(a, a, cells(houses)[1])
    assert (pair.difference, pair.p, pair.detectable) == (0.0, 1.0, None)
    assert pair.interval and pair.interval.method == Method.CLUSTER_T
    assert pair.interval.low == -pair.interval.high and 0.0 < pair.interval.high <= 1.0
    assert 0.0 < pair.equivalent_within <= pair.interval.high


def test_a_difference_is_within_minus_one_and_one():
    pair = compare_pair(np.ones(2), np.zeros(2), np.array(["x", "y"]))
    assert pair.interval and (pair.difference, pair.interval.high, pair.equivalent_within) == (1.0, 1.0, 1.0)


def test_one_house_has_no_interval_and_claims_no_equivalence():
    pair = compare_pair(np.array([1.0, 0.0, 0.0]), np.zeros(3), np.array(["x"] * 3))
    assert (pair.n, pair.interval, pair.equivalent_within) == (3, None, 1.0)


@pytest.mark.parametrize("n", [0, 3, 200])
def test_cells_without_a_query_in_common_are_not_compared(n: int):
    pair = compare_pair(np.ones(n), np.full(n, NAN), np.arange(n))
    assert isnan(pair.difference)
    assert pair == Pair(0, 0, 0, 0, 0, pair.difference, None, 1.0, None, 1.0)


def test_one_column_has_no_pairs():
    assert compare_all(np.ones((3, 1)), np.arange(3)) == {}
