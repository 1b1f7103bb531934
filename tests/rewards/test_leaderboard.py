"""A leaderboard's rows are what the metrics say, on the same resamples, and no answer never helps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sbench_dag.reports.leaderboard import leaderboard_text
from sbench_dag.rewards.example import Example, LabelledExample
from sbench_dag.rewards.leaderboard import Leaderboard, Row, leaderboard
from sbench_dag.rewards.predictions import Predictions, gather
from sbench_dag.rewards.score import Score, Status
from tests.rewards.paper.tables import label_arrays

N = 60
RNG = np.random.default_rng(7)
LABELS = RNG.integers(1, 6, N)
EXAMPLES = [
    LabelledExample(Example(f"e{i}", Path(f"e{i}.mp4"), "t"), int(LABELS[i]), "ab"[i % 2], f"c{i // 4}")
    for i in range(N)
]


def said(values: np.ndarray) -> dict[str, Score]:
    return {f"e{i}": Score(Status.SCORED, int(value)) for i, value in enumerate(values)}


def noisy(noise: float) -> dict[str, Score]:
    return said(np.clip(np.rint(LABELS + RNG.normal(0, noise, N)), 1, 5))


def board_of(**models: dict[str, Score]) -> Leaderboard:
    return leaderboard(gather(EXAMPLES, models), resamples=500)


def row(board: Leaderboard, name: str) -> Row:
    return next(row for row in board.rows if row.name == name)


def test_models_are_ranked_by_group_wise_error_with_the_baselines_among_them():
    board = board_of(bad=noisy(3), good=noisy(0.5), perfect=said(LABELS))
    assert [(r.name, r.rank) for r in board.models] == [("perfect", 1), ("good", 2), ("bad", 3)]
    values = [r.group_wise.value for r in board.rows]
    assert values == sorted(values) and len(board.rows) == 3 + 8
    assert all(r.first is None and r.rank is None for r in board.rows if r not in board.models)
    perfect = row(board, "perfect")
    assert (perfect.group_wise.value, perfect.group_wise.interval, perfect.group_wise.skill) == (0, (0, 0), 1)
    assert (perfect.first, perfect.behind) == (1.0, None)


def test_intervals_hold_their_value_and_differences_are_those_of_the_values():
    board = board_of(a=noisy(1), b=noisy(1.5))
    for r in board.rows:
        low, high = r.group_wise.interval or (0, 0)
        assert low <= r.group_wise.value <= high
        low, high = r.leave_one_out or (0, 0)
        assert low <= r.group_wise.value <= high
    first, second = board.models
    assert second.behind is not None
    assert second.behind.difference == pytest.approx(second.group_wise.value - first.group_wise.value)
    assert (first.first or 0) + (second.first or 0) == pytest.approx(1.0)


def test_a_model_and_its_copy_share_the_first_place_and_nothing_lies_between_them():
    scores = noisy(1)
    board = board_of(a=scores, b=scores)
    assert [(r.name, r.first) for r in board.models] == [("a", 0.5), ("b", 0.5)]
    behind = board.models[1].behind
    assert behind is not None and (behind.difference, behind.interval, behind.units.p_t) == (0, (0, 0), None)


def test_a_model_that_says_always_the_same_is_its_baseline():
    board = board_of(three=said(np.full(N, 3)))
    model, constant = row(board, "three"), row(board, "always 3")
    assert (model.group_wise, model.instance_weighted) == (constant.group_wise, constant.instance_weighted)
    assert constant.group_wise.skill == 0 if board.best_constant == 3 else (constant.group_wise.skill or 0) < 0


def test_a_model_that_is_named_like_a_baseline_takes_its_row():
    board = leaderboard(gather(EXAMPLES, {"always 3": said(LABELS)}), resamples=50)
    assert len(board.rows) == 8 and row(board, "always 3").rank == 1
    assert all(subset.errors["always 3"] == 0 for subset in board.subsets)


def test_no_answer_is_counted_in_one_error_and_left_out_of_the_other():
    whole = said(LABELS)
    silent = dict(whole)
    del silent["e0"]
    silent["e2"] = Score(Status.UNPARSEABLE, why="5 or 4", answer="5 or 4")
    silent["e4"] = Score(Status.MISSING, why="time out")
    found = row(board_of(whole=whole, silent=silent), "silent")
    assert found.instance_weighted.value == pytest.approx(3 * 4 / N)
    assert found.group_wise.value == pytest.approx(3 * 4 / (N / 2) / 2), "all three are of subset a"
    assert found.statuses == {Status.SCORED: N - 3, Status.UNPARSEABLE: 1, Status.MISSING: 2}
    answered = found.answered
    assert answered is not None
    assert (answered.n, answered.subsets, answered.group_wise, answered.skill) == (N - 3, 2, 0, 1)


def test_answering_only_what_is_easy_helps_nowhere_but_where_it_says_so():
    easy = {name: score for name, score in noisy(2).items() if score.value == LABELS[int(name[1:])]}
    found = row(board_of(easy=easy), "easy")
    assert found.answered is not None and found.answered.group_wise == 0
    assert found.group_wise.value > row(board_of(), "always 3").group_wise.value


def test_a_model_that_never_answers_has_no_skill_and_still_a_row():
    found = row(board_of(silent={}), "silent")
    assert found.group_wise.value == 4 and (found.group_wise.skill or 0) < 0
    assert found.answered is not None and (found.answered.n, found.answered.group_wise) == (0, None)
    assert found.agreement is not None and found.agreement.kappa is None


def test_skill_of_what_was_answered_is_against_the_constant_of_just_that():
    only_fives = {f"e{i}": Score(Status.SCORED, 4) for i in range(N) if LABELS[i] == 5}
    found = row(board_of(m=only_fives), "m").answered
    assert found is not None and found.group_wise == 1.0
    assert found.skill is None, "always 5 is perfect there, so there is nothing to be better than"


def test_subsets_have_their_sizes_labels_and_errors():
    board = board_of(three=said(np.full(N, 3)))
    assert [s.name for s in board.subsets] == ["a", "b"]
    for i, subset in enumerate(board.subsets):
        labels = LABELS[i::2]
        assert (subset.n, subset.clusters) == (30, 15)
        assert subset.labels == tuple(int((labels == label).sum()) for label in range(1, 6))
        assert subset.errors["three"] == pytest.approx(np.abs(labels - 3).mean())
        assert subset.best_constant_error == min(np.abs(labels - score).mean() for score in range(1, 6))
    assert board.clusters == 15


def test_what_is_worth_watching_is_far_off_or_far_apart():
    a, b = said(LABELS), said(LABELS)
    one = int(np.flatnonzero(LABELS == 1)[0])
    five = int(np.flatnonzero(LABELS == 5)[0])
    a[f"e{one}"] = b[f"e{one}"] = Score(Status.SCORED, 5)
    a[f"e{five}"], b[f"e{five}"] = Score(Status.SCORED, 2), Score(Status.MISSING)
    three = int(np.flatnonzero(LABELS == 3)[0])
    a[f"e{three}"], b[f"e{three}"] = Score(Status.SCORED, 5), Score(Status.SCORED, 2)
    first, third, second = board_of(a=a, b=b).disagreements
    assert (third.id, third.error, third.spread) == (f"e{three}", 1.5, 3)
    assert (first.id, first.label, first.error, first.spread, first.scores) == (f"e{one}", 1, 4, 0, {"a": 5, "b": 5})
    assert (second.id, second.error, second.scores) == (f"e{five}", 3, {"a": 2, "b": None})
    assert board_of().disagreements == ()


def test_the_same_seed_gives_the_same_board_and_json_holds_all_of_it():
    models = {"a": noisy(1), "b": noisy(2)}
    first, second = (json.dumps(board_of(**models).as_json(), allow_nan=False) for _ in range(2))
    assert first == second
    found = json.loads(first)
    assert len(found["rows"]) == 10 and len(found["subsets"]) == 2
    assert np.array(found["rows"][0]["agreement"]["confusion"]).sum() == N


def test_the_text_fits_a_terminal_and_names_every_denominator():
    subsets, labels = label_arrays()
    examples = [
        LabelledExample(Example(f"{s}/{i}" + "x" * 60, Path("v.mp4"), "t"), int(y), s, str(i // 2))
        for i, (s, y) in enumerate(zip(subsets.tolist(), labels, strict=True))
    ]
    rng = np.random.default_rng(1)
    models = {
        f"laboratory/model-{m}": {
            e.example.id: Score(Status.SCORED, int(rng.integers(1, 6))) for e in examples if rng.random() < 0.99
        }
        for m in range(5)
    }
    text = leaderboard_text(leaderboard(gather(examples, models), resamples=100), "RoboRewardBench")
    assert max(map(len, text.splitlines())) <= 120
    assert "2,831 examples in 23 subsets" in text and "/2831" in text and "always 3" in text
    assert "--json has all" in text and "with the 23 subsets as units" in text


def test_a_board_of_baselines_alone_can_be_read():
    text = leaderboard_text(board_of(), "nothing yet")
    assert "always 1" in text and "Agreement" not in text and "nan" not in text


def test_a_board_of_one_subset_and_one_model_can_be_read():
    examples = EXAMPLES[:1]
    text = leaderboard_text(leaderboard(gather(examples, {"m": said(LABELS)}), resamples=10), "one")
    assert "nan" not in text and "units" not in text


def predictions_of_table() -> Predictions:
    subsets, labels = label_arrays()
    n = np.arange(len(labels)).astype(str)
    return Predictions(n, subsets, n, labels, {})


def test_the_benchmarks_baselines_have_the_papers_values():
    board = leaderboard(predictions_of_table(), resamples=50)
    found = row(board, "always 3")
    assert (board.best_constant, f"{found.group_wise.value:.4f}") == (3, "1.2367")
    assert found.group_wise.skill == 0
