"""Resamples of clusters within strata, against a plain loop and against theory."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.stats.bootstrap import Resampled, cluster_bootstrap, first_place, interval

NAN = float("nan")


def one(values: list[float], strata: list[str], clusters: list[str], **options: int) -> Resampled:
    return cluster_bootstrap(np.array(values)[:, None], np.array(strata), np.array(clusters), **options)


def test_the_standard_error_is_that_of_a_plain_loop_over_clusters():
    rng = np.random.default_rng(5)
    strata = np.repeat(["a", "b"], [90, 30])
    clusters = np.concatenate([rng.integers(0, 24, 90), rng.integers(24, 30, 30)])
    values = rng.normal(size=(120, 2)) + rng.normal(size=(30, 2))[clusters]
    values[7, 1] = NAN
    found = cluster_bootstrap(values, strata, clusters, 4000, seed=1)

    def resample() -> tuple[np.ndarray, np.ndarray]:
        means, rows = [], []
        for stratum in ("a", "b"):
            names = np.unique(clusters[strata == stratum])
            picked = [np.flatnonzero((strata == stratum) & (clusters == c)) for c in rng.choice(names, len(names))]
            rows.append(np.concatenate(picked))
            means.append(np.nanmean(values[rows[-1]], axis=0))
        return np.mean(means, axis=0), np.nanmean(values[np.concatenate(rows)], axis=0)

    loop = [resample() for _ in range(4000)]
    for here, there in ((found.stratified, [s for s, _ in loop]), (found.pooled, [p for _, p in loop])):
        assert here.std(axis=0) == pytest.approx(np.std(there, axis=0), rel=0.08)
        assert here.mean(axis=0) == pytest.approx(np.mean(there, axis=0), abs=0.02)


def test_copies_of_an_instance_in_its_cluster_add_no_certainty():
    rng = np.random.default_rng(3)
    values = rng.normal(size=50)
    names = [str(i) for i in range(50)]
    apart = one(values.tolist(), ["a"] * 50, names).stratified
    copied = one(np.repeat(values, 4).tolist(), ["a"] * 200, np.repeat(names, 4).tolist()).stratified
    assert copied.std() == pytest.approx(apart.std(), rel=0.05)
    ignored = one(np.repeat(values, 4).tolist(), ["a"] * 200, [str(i) for i in range(200)]).stratified
    assert ignored.std() == pytest.approx(apart.std() / 2, rel=0.1)


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(11)
    hits = 0
    for i in range(200):
        effect = rng.normal(size=40)
        clusters = np.repeat(np.arange(40), 3)
        values = effect[clusters] + rng.normal(size=120)
        found = interval(cluster_bootstrap(values[:, None], np.full(120, "a"), clusters, 400, seed=i).pooled[:, 0])
        assert found is not None
        hits += found[0] <= 0.0 <= found[1]
    assert 0.88 <= hits / 200 <= 0.98


def test_columns_share_their_draws():
    rng = np.random.default_rng(4)
    base = rng.normal(size=60)
    values = np.stack([base, base + 0.25], axis=1)
    found = cluster_bootstrap(values, np.full(60, "a"), np.arange(60) // 2, 500)
    assert (found.stratified[:, 1] - found.stratified[:, 0]) == pytest.approx(np.full(500, 0.25))


def test_the_same_seed_gives_the_same_resamples_and_another_gives_others():
    again = [one([1.0, 2.0, 5.0], ["a"] * 3, ["x", "y", "z"], resamples=700, seed=s).pooled for s in (0, 0, 1)]
    assert (again[0] == again[1]).all() and not (again[0] == again[2]).all()


def test_a_cluster_that_lies_in_two_strata_is_drawn_once_for_both():
    strata, clusters = ["a", "a", "b", "b", "c", "c"], ["x", "y", "x", "y", "v", "w"]
    found = one([0.0, 1.0, 0.0, 1.0, 5.0, 5.0], strata, clusters, resamples=2000)
    # a and b are the same in every resample: 0, 1/2 or 1
    assert np.unique(found.stratified.round(9)).tolist() == pytest.approx([5 / 3, 2.0, 7 / 3])
    apart = one([0.0, 1.0, 0.0, 1.0], ["a", "a", "b", "b"], ["x", "y", "v", "w"], resamples=2000)
    assert set(np.unique(apart.stratified)) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_strata_are_drawn_from_together_though_no_cluster_lies_in_all_of_them():
    found = one([0.0, 1.0, 0.0, 1.0], ["a", "b", "b", "c"], ["x", "x", "y", "y"], resamples=500)
    # only x, only y, or both; b is a mixture of the two
    assert set(np.unique(found.pooled)) == {0.5}
    assert set(np.unique(found.stratified)) == {0.5}
    assert found.stratified.shape == (500, 1)


def test_a_stratum_in_which_nothing_was_drawn_is_left_out_of_that_resample():
    found = one([1.0, NAN, 3.0], ["a", "a", "b"], ["x", "y", "z"], resamples=500)
    assert set(np.unique(found.stratified)) == {2.0, 3.0}
    nothing = one([NAN], ["a"], ["x"], resamples=3)
    assert np.isnan(nothing.stratified).all() and interval(nothing.stratified[:, 0]) is None


def test_what_one_column_lacks_is_missing_in_no_other():
    values = np.array([[1.0, 1.0], [3.0, NAN], [3.0, 3.0]])
    found = cluster_bootstrap(values, np.array(["a", "a", "b"]), np.array(["x", "x", "y"]), 20)
    assert (found.stratified == [2.5, 2.0]).all() and (found.pooled == [7 / 3, 2.0]).all()


def test_first_place_is_shared_by_those_who_tie():
    assert first_place(np.array([[1.0, 1.0, 2.0], [2.0, 1.0, NAN]])).tolist() == [0.25, 0.75, 0.0]
