"""Each metric against a number that somebody can work out by hand, or against its definition spelled out."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from sbench_dag.rewards.example import Example, LabelledExample
from sbench_dag.rewards.metrics import (
    WORST,
    absolute_errors,
    agreement,
    best_constant,
    skill,
    tally,
    tally_of_table,
)
from sbench_dag.rewards.predictions import gather
from sbench_dag.rewards.score import Score, Status

NAN = float("nan")


def labelled(name: str, label: int, subset: str = "a", cluster: str | None = None) -> LabelledExample:
    return LabelledExample(Example(name, Path(f"{name}.mp4"), "task"), label, subset, cluster or name)


def alone(n: int) -> np.ndarray:
    return np.arange(n).astype(str)


def agree(scores: list[float], labels: list[int], subsets: list[str] | None = None, clusters: list[str] | None = None):
    n = len(scores)
    return agreement(
        np.array(scores, dtype=float),
        np.array(labels),
        np.array(subsets or ["a"] * n),
        np.array(clusters) if clusters else alone(n),
    )


def test_a_small_subset_counts_as_much_as_a_large_one_group_wise_and_as_its_instances_otherwise():
    found = tally(np.array([0.0, 0.0, 0.0, 4.0]), np.array(["large", "large", "large", "small"]))
    assert (found.group_wise, found.instance_weighted) == (2.0, 1.0)


def test_what_is_left_out_leaves_the_denominator():
    found = tally(np.array([1.0, NAN, NAN]), np.array(["a", "a", "b"]))
    assert found.counts.tolist() == [1, 0]
    assert found.group_wise == found.instance_weighted == 1.0
    assert np.isnan(found.per_subset[1])


def test_nothing_scored_has_no_error_and_not_a_zero():
    found = tally(np.array([NAN]), np.array(["a"]))
    assert found.group_wise is None and found.instance_weighted is None
    assert skill(None, 1.0) is None


def test_no_answer_is_never_better_than_any_answer():
    labels = np.array([1, 2, 3, 4, 5])
    missing = absolute_errors(np.full(5, NAN), labels, WORST)
    for score in range(1, 6):
        assert (absolute_errors(np.full(5, float(score)), labels) <= missing).all()


def test_sums_are_recovered_from_printed_means():
    found = tally_of_table({"a": 0.333, "b": 0.158}, {"a": 3, "b": 19})
    assert found.sums.tolist() == [1, 3]


def test_a_mean_that_no_whole_errors_have_is_named():
    with pytest.raises(ValueError, match=r"a: no sum of 3 whole errors has the mean 0\.4"):
        tally_of_table({"a": 0.4}, {"a": 3})


def test_skill_is_one_for_perfection_and_zero_for_the_best_constant():
    score, errors = best_constant(np.array([1, 3, 3, 5]), np.full(4, "a"))
    assert (score, errors.group_wise) == (3, 1.0)
    assert (skill(0.0, 1.0), skill(1.0, 1.0), skill(2.0, 1.0)) == (1.0, 0.0, -1.0)


def test_the_best_constant_is_that_of_the_subsets_and_not_of_the_instances():
    labels, subsets = np.array([1] * 10 + [5, 4]), np.array(["large"] * 10 + ["small1", "small2"])
    assert best_constant(labels, subsets)[0] == 4


def test_one_step_generous_everywhere():
    found = agree([2, 3, 4, 5], [1, 2, 3, 4])
    assert (found.exact, found.within_one, found.signed_error) == (0.0, 1.0, 1.0)
    assert found.spearman == pytest.approx(1.0) and found.kendall == pytest.approx(1.0)


def test_rows_of_the_confusion_matrix_are_labels():
    found = agree([5, 5, 2], [1, 1, 2]).confusion
    assert found[0, 4] == 2 and found[1, 1] == 1 and found.sum() == 3


def test_quadratic_kappa_is_its_definition():
    rng = np.random.default_rng(1)
    y, s = rng.integers(1, 6, 200), rng.integers(1, 6, 200)
    s[:100] = y[:100]
    observed = ((s - y) ** 2).mean()
    chance = ((s[:, None] - y[None]) ** 2).mean()
    assert agree(s.tolist(), y.tolist()).kappa == pytest.approx(1 - observed / chance)


def test_undefined_is_none():
    found = agree([3, 3, 3], [3, 3, 3])
    assert found.kappa is None and found.spearman is None and found.kendall is None
    assert all(d.auroc is None for d in found.detection)
    assert found.within_subset.accuracy is None and found.within_subset.pairs == 0


def test_a_constant_answer_agrees_no_better_than_chance():
    found = agree([3, 3, 3, 3], [1, 5, 4, 2])
    assert found.kappa == 0.0
    assert [d.auroc for d in found.detection] == [0.5, 0.5]
    assert found.within_subset.accuracy == 0.5 and found.within_subset.ties == found.within_subset.pairs == 6


def test_near_completion_is_a_success_at_4_and_a_failure_at_5():
    found = agree([4, 5, 4, 1], [4, 4, 3, 1])
    at_4, at_5 = found.detection
    assert (at_4.false_positives, at_4.failures) == (1, 2)
    assert (at_5.false_positives, at_5.failures) == (1, 4)
    # of the pairs (success, failure) at 4: 4-4 ties, 4-1, 5-4, 5-1 are right
    assert at_4.auroc == pytest.approx((0.5 + 1 + 1 + 1) / 4)


def test_preferences_are_their_definition():
    rng = np.random.default_rng(2)
    y, s, group = rng.integers(1, 6, 120), rng.integers(1, 6, 120), rng.integers(0, 9, 120)

    def by_hand(members: np.ndarray) -> list[float]:
        return [
            0.5 if s[i] == s[j] else float((s[i] > s[j]) == (y[i] > y[j]))
            for i, j in itertools.combinations(members, 2)
            if y[i] != y[j]
        ]

    found = agree(s.tolist(), y.tolist(), clusters=[str(g) for g in group])
    pairs = [pair for g in range(9) for pair in by_hand(np.flatnonzero(group == g))]
    assert found.within_cluster.pairs == len(pairs) and found.within_cluster.accuracy == pytest.approx(np.mean(pairs))
    found = agree(s.tolist(), y.tolist(), subsets=[str(g) for g in group])
    means = [np.mean(by_hand(np.flatnonzero(group == g))) for g in range(9)]
    assert found.within_subset.accuracy == pytest.approx(np.mean(means))


def test_an_episode_may_reach_into_two_subsets():
    found = agree([1, 5], [1, 5], subsets=["a", "b"], clusters=["episode", "episode"])
    assert (found.within_cluster.pairs, found.within_cluster.accuracy, found.within_subset.pairs) == (1, 1.0, 0)


def test_what_has_no_score_is_in_no_agreement():
    found = agree([NAN, 2, NAN], [1, 2, 5])
    assert (found.n, found.exact, found.confusion.sum()) == (1, 1.0, 1)
    nothing = agree([NAN], [1])
    assert (nothing.n, nothing.exact, nothing.kappa) == (0, None, None) and nothing.confusion.sum() == 0


def test_scores_are_aligned_by_id_and_what_is_not_there_is_missing():
    examples = [labelled("x", 1), labelled("y", 5), labelled("z", 3)]
    scores = {"y": Score(Status.SCORED, 4), "x": Score(Status.UNPARSEABLE, why="no number", answer="hm")}
    found = gather(examples, {"m": scores}).models["m"]
    assert found.status.tolist() == [Status.UNPARSEABLE, Status.SCORED, Status.MISSING]
    assert np.isnan(found.values[[0, 2]]).all() and found.values[1] == 4
    assert [found.count(s) for s in Status] == [1, 1, 1]
    assert found.scored.tolist() == [False, True, False]


def test_an_id_stands_for_one_example():
    with pytest.raises(ValueError, match="'x'"):
        gather([labelled("x", 1), labelled("x", 2)], {})
    with pytest.raises(ValueError, match="no examples"):
        gather([], {})
