"""Success is what was reached, times what was lifted of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sbench_dag.stats.clustered import Method
from sbench_dag.stats.decomposition import decompose, decompose_all

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def picks(houses: int, each: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    reached = rng.random(houses * each) < 0.6
    lifted = reached & (rng.random(houses * each) < 0.4)
    return reached, lifted, np.full(houses * each, "lifted"), np.arange(houses).repeat(each)


@pytest.mark.parametrize("seed", range(5))
def test_the_product_is_the_rate_of_success(seed: int):
    found = decompose(*picks(80, seed=seed))
    reached, lifted, success = found.reached, found.lifted_given_reached, found.success
    assert Fraction(reached.count, reached.n) * Fraction(lifted.count, lifted.n) == Fraction(success.count, success.n)
    assert reached.value and lifted.value
    assert success.value == pytest.approx(reached.value * lifted.value, rel=1e-15)
    assert (success.n, success.n, lifted.n) == (found.n, reached.n, reached.count)


@pytest.mark.parametrize(("houses", "method"), [(30, Method.EFFECTIVE), (80, Method.BOOTSTRAP)])
def test_it_is_so_in_each_joint_resample(houses: int, method: Method):
    found = decompose(*picks(houses))
    reached, lifted, success = found.resampled.T
    assert reached * lifted == pytest.approx(success)
    assert found.clusters == houses
    for share in (found.reached, found.lifted_given_reached, found.success):
        assert share.interval and share.value and share.interval.method == method
        assert share.interval.low < share.value < share.interval.high


def test_a_mixed_stratum_is_refused_by_name():
    reached, lifted, scoring, houses = picks(20)
    scoring = np.where(np.arange(len(scoring)) < 7, "reached_only", scoring)
    with pytest.raises(ValueError, match="scoring: lifted, reached_only are mixed"):
        decompose(reached, lifted, scoring, houses)
    assert decompose(reached[7:], lifted[7:], scoring[7:], houses[7:]).n == 113


def test_what_is_lifted_but_not_reached_would_break_the_product():
    _, _, scoring, houses = picks(20)
    with pytest.raises(ValueError, match="lifted: 2 of 120 were lifted but not reached"):
        decompose(np.zeros(120), (np.arange(120) < 2).astype(float), scoring, houses)


def test_where_nothing_was_reached_there_is_no_share_of_it():
    _, _, scoring, houses = picks(20)
    found = decompose(np.zeros(120), np.zeros(120), scoring, houses)
    assert (found.lifted_given_reached.value, found.lifted_given_reached.interval) == (None, None)
    assert (found.reached.value, found.success.value) == (0.0, 0.0)


def test_of_no_queries_nothing_is_known():
    found = decompose(np.array([]), np.array([]), np.array([]), np.array([]))
    assert (found.n, found.clusters, found.success.value, found.success.interval) == (0, 0, None, None)


def test_columns_are_decomposed_as_each_alone():
    parts = [picks(80, seed=seed) for seed in range(3)]
    reached, lifted = (np.stack([part[i] for part in parts], axis=1) for i in (0, 1))
    for found, (mine, mine_lifted, scoring, houses) in zip(
        decompose_all(reached, lifted, *parts[0][2:]), parts, strict=True
    ):
        alone = decompose(mine, mine_lifted, scoring, houses)
        assert found.success == alone.success
        assert found.lifted_given_reached == alone.lifted_given_reached
