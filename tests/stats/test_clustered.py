"""Rates with intervals by house: which interval, and what becomes of columns that lack values."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.stats.bootstrap import cluster_bootstrap
from sbench_dag.stats.clustered import MIN_CLUSTERS, Interval, Method, clustered
from sbench_dag.stats.few_clusters import wilson_of
from sbench_dag.stats.intervals import wilson

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
NAN = float("nan")


def houses(count: int, each: int = 4, rate: float = 0.4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (rng.random((count * each, 1)) < rate).astype(float), np.array(names(count)).repeat(each)


def names(count: int) -> list[str]:
    return [f"val_{number:04}" for number in range(count)]


def only(values: np.ndarray, clusters: np.ndarray) -> Interval:
    (found,) = clustered(values, clusters).intervals
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("count", "method"),
    [
        (1, Method.INDEPENDENT),
        (2, Method.EFFECTIVE),
        (MIN_CLUSTERS - 1, Method.EFFECTIVE),
        (MIN_CLUSTERS, Method.BOOTSTRAP),
    ],
)
def test_the_number_of_houses_chooses_the_method(count: int, method: Method):
    assert only(*houses(count)).method == method


def test_one_house_has_wilsons_interval():
    values, clusters = houses(1, each=20)
    rate = wilson(int(values.sum()), 20)
    assert only(values, clusters) == Interval(rate.low, rate.high, Method.INDEPENDENT)


@pytest.mark.parametrize("successes", [0, 3, 19])
@pytest.mark.parametrize("flipped", [False, True])
def test_what_happened_in_few_of_many_houses_is_not_resampled(successes: int, flipped: bool):
    values, clusters = np.zeros((80 * 4, 1)), np.array(names(80)).repeat(4)
    values[: 4 * successes : 4] = 1.0
    found = only(1.0 - values if flipped else values, clusters)
    assert found.method == Method.EFFECTIVE
    assert found.high - found.low > 0.02
    values[4 * 20] = 1.0
    values[: 4 * 20 : 4] = 1.0
    assert only(1.0 - values if flipped else values, clusters).method == Method.BOOTSTRAP


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("count", [2, 5, 30, 80])
def test_houses_that_all_agree_count_once_each(value: float, count: int):
    found = only(np.full((count * 6, 1), value), np.array(names(count)).repeat(6))
    alone = only(np.full((count, 1), value), np.array(names(count)))
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    assert found.high == 1.0 if value else found.low == 0.0
    assert 0.0 < (found.low if value else found.high) < 1.0


@pytest.mark.parametrize("count", [10, 80])
def test_copies_of_queries_in_their_house_add_next_to_no_certainty(count: int):
    values, clusters = houses(count, each=1, rate=0.5)
    once = only(values, clusters)
    copied = only(values.repeat(8, axis=0), clusters.repeat(8))
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.12)


def test_houses_that_agree_more_than_chance_gain_nothing_by_it():
    values = np.tile([[0.0], [1.0]], (20, 1))  # one success in each of 20 houses of two
    alike = only(values, np.array(names(20)).repeat(2))
    n = 40 * (1.959964 / 2.093024) ** 2  # normal and Student's t of 19 degrees
    assert alike.high - alike.low >= np.ptp(wilson_of(0.5, n)) > 0.28


def test_the_bootstraps_interval_is_a_little_wider_than_its_percentiles():
    values, clusters = houses(60)
    drawn = cluster_bootstrap(values, np.zeros(len(values)), clusters).pooled[:, 0]
    found, (low, high) = only(values, clusters), np.quantile(drawn, [0.025, 0.975])
    assert found.low <= low < high <= found.high
    assert 1.0 < (found.high - found.low) / (high - low) < 1.08


def test_columns_share_their_draws():
    values, clusters = houses(60)
    found = clustered(np.hstack([values, 1.0 - values]), clusters, resamples=300)
    assert found.resampled.shape == (300, 2)
    assert found.resampled.sum(axis=1) == pytest.approx(np.ones(300))


def test_the_seed_makes_the_draws():
    values, clusters = houses(60)
    first, again, other = (clustered(values, clusters, 200, seed).resampled for seed in (0, 0, 1))
    assert (first == again).all() and not (first == other).all()


def test_a_columns_own_houses_choose_its_method_and_its_interval():
    values, clusters = houses(60)
    some = np.where(np.isin(clusters, names(10))[:, None], values, NAN)
    found = clustered(np.hstack([values, some]), clusters)
    assert [interval.method for interval in found.intervals if interval] == [Method.BOOTSTRAP, Method.EFFECTIVE]
    known = ~np.isnan(some[:, 0])
    assert found.intervals[1] == only(some[known], clusters[known])
    assert found.rates[1] == values[known].mean()
    assert found.clusters == 60


@pytest.mark.parametrize("count", [1, 3, 60])
def test_a_column_without_values_has_no_rate_and_no_interval(count: int):
    values, clusters = houses(count)
    found = clustered(np.hstack([values, np.full_like(values, NAN)]), clusters, 100)
    assert found.intervals[0] is not None and found.intervals[1] is None
    assert np.isnan(found.rates[1]) and np.isnan(found.resampled[:, 1]).all()


def test_of_no_queries_nothing_is_known():
    found = clustered(np.zeros((0, 2)), np.array([]), 10)
    assert (found.intervals, found.clusters) == ((None, None), 0)
    assert np.isnan(found.rates).all() and found.resampled.shape == (10, 2)


@pytest.mark.parametrize(("count", "n"), [(0, 47), (13, 47), (47, 47)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilsons_interval_of_whole_numbers_is_scipys(count: int, n: int, confidence: float):
    rate = wilson(count, n, confidence)
    assert wilson_of(count / n, n, confidence) == pytest.approx((rate.low, rate.high), abs=1e-12)
