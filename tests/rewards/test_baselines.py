"""What knows nothing, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.rewards.baselines import Baseline, baselines

LABELS = np.array([1, 1, 5, 5, 4])


def of(labels: np.ndarray, subsets: np.ndarray) -> dict[str, Baseline]:
    return {b.name: b for b in baselines(labels, subsets)}


def test_the_best_constant_and_the_median_are_known_on_paper():
    found = {name: b.errors.mean() for name, b in of(LABELS, np.full(5, "a")).items()}
    assert found["oracle median"] == found["always 4"] == pytest.approx((3 + 3 + 1 + 1 + 0) / 5)
    assert found["always 1"] == pytest.approx((0 + 0 + 4 + 4 + 3) / 5)


def test_each_subset_has_its_own_median_and_its_own_distribution():
    found = of(LABELS, np.array(["a", "a", "b", "b", "b"]))
    assert found["oracle median"].errors.tolist() == [0, 0, 0, 0, 1]
    # in b, a 5 is drawn two times of three: 0 or 1 off
    assert found["oracle marginal"].errors == pytest.approx([0, 0, 1 / 3, 1 / 3, 2 / 3])


def test_a_median_between_two_labels_is_a_score_and_costs_the_same():
    found = of(np.array([1, 2, 4, 5]), np.full(4, "a"))["oracle median"]
    assert found.scores is not None and set(found.scores) == {2.0}
    assert found.errors.mean() == np.abs(np.array([1, 2, 4, 5]) - 3).mean()


def test_random_ones_have_the_error_that_many_draws_have():
    rng = np.random.default_rng(0)
    drawn = np.abs(rng.integers(1, 6, (50_000, 5)) - LABELS).mean(axis=0)
    assert of(LABELS, np.full(5, "a"))["uniform random"].errors == pytest.approx(drawn, abs=0.03)
