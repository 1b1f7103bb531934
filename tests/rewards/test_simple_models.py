"""Models that need no weights: constants and the clip-length rule."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.clip_length import ClipLength, fit_thresholds
from sbench_dag.rewards.models.constant import Constant
from sbench_dag.rewards.score import Status
from tests.rewards.videos import write_video


def test_a_constant_needs_no_video():
    scores = list(Constant(4).score([Example("a", Path("nowhere.mp4"), "pick")] * 3))
    assert [(score.status, score.value) for score in scores] == [(Status.SCORED, 4)] * 3
    assert scores[0].protocol == {"model": "constant-4"}


def test_clip_length_sees_nothing_but_how_long_a_video_is(tmp_path: Path):
    """The ladder of the paper: the same success whole, and cut twice."""
    videos = [write_video(tmp_path / f"{frames}.mp4", frames) for frames in (49, 36, 17)]
    examples = [Example(video.name, video, "pick") for video in videos]
    examples.insert(1, Example("gone", tmp_path / "gone.mp4", "pick"))
    scores = list(ClipLength((1.0, 1.7, 3.0, 4.0)).score(examples))
    assert [score.value for score in scores] == [5, None, 4, 3]
    assert scores[1].status is Status.MISSING
    assert scores[1].why == f"{tmp_path}/gone.mp4: no such file"
    assert scores[0].protocol["duration_s"] == 4.9


def test_fitted_thresholds_are_the_best_there_are():
    """Against all ascending assignments of five lengths, with ties."""
    random = np.random.default_rng(0)
    for _ in range(50):
        durations, labels = random.integers(1, 6, 12).astype(float), random.integers(1, 6, 12)
        thresholds = fit_thresholds(durations.tolist(), labels.tolist())
        fitted = 1 + (durations[:, None] >= np.array(thresholds)).sum(axis=1)
        lengths = np.unique(durations)
        best = min(
            sum(
                abs(label - levels[np.searchsorted(lengths, length)])
                for length, label in zip(durations, labels, strict=True)
            )
            for levels in itertools.combinations_with_replacement(range(1, 6), len(lengths))
        )
        assert np.abs(labels - fitted).sum() == best


def test_a_score_that_is_better_never_given_has_no_length():
    assert fit_thresholds([1.0, 2.0, 5.0], [2, 2, 4]) == (0.0, 3.5, 3.5, float("inf"))
    json.dumps(ClipLength((0.0, 3.5, 3.5, float("inf"))).identity, allow_nan=False)


@pytest.mark.parametrize("thresholds", [(1.0, 2.0, 3.0), (1.0, 3.0, 2.0, 4.0)])
def test_thresholds_that_do_not_ascend_are_refused(thresholds: tuple[float, ...]):
    with pytest.raises(ValueError, match="four ascending numbers of seconds"):
        ClipLength(thresholds)
