"""A rule that sees nothing but how long a video is.

Negatives that are cut from successes are shorter than these, so the length alone tells labels. What this rule scores
better than a constant is a leak of the data set, and no model that beats only the constant has shown to understand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import HIGHEST, LOWEST, Score, Status
from sbench_dag.rewards.video import FrameRule, VideoError, decode

_ONE_FRAME = FrameRule(at_least=1, at_most=1)
_LEVELS = HIGHEST - LOWEST + 1


@dataclass(frozen=True)
class ClipLength:
    """thresholds_s: four ascending durations; the score is 1 and one more for each that a video reaches."""

    thresholds_s: tuple[float, ...]
    threads: int = 4
    name: str = "clip-length"

    def __post_init__(self) -> None:
        if len(self.thresholds_s) != _LEVELS - 1 or list(self.thresholds_s) != sorted(self.thresholds_s):
            raise ValueError(f"thresholds_s = {list(self.thresholds_s)}: must be four ascending numbers of seconds")

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.name, "thresholds_s": [f"{threshold:g}" for threshold in self.thresholds_s]}

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        return map_ahead(self._score, examples, self.threads, ahead=4 * self.threads)

    def _score(self, example: Example) -> Score:
        try:
            lasts_s = decode(example.video, _ONE_FRAME).duration_s
        except VideoError as error:
            return Score(Status.MISSING, why=str(error), protocol=self.identity)
        value = LOWEST + sum(lasts_s >= threshold for threshold in self.thresholds_s)
        return Score(Status.SCORED, value, protocol={**self.identity, "duration_s": round(lasts_s, 4)})


def duration_s(video: Path) -> float | None:
    """None if it can't be decoded."""
    try:
        return decode(video, _ONE_FRAME).duration_s
    except VideoError:
        return None


def fit_thresholds(durations_s: Sequence[float], labels: Sequence[int]) -> tuple[float, ...]:
    """The four thresholds with the least absolute error on these videos; inf where a score is better never given.

    Raises:
        ValueError: there is nothing to fit, or not one label a duration.
    """
    if len(durations_s) != len(labels) or not labels:
        raise ValueError(f"{len(durations_s)} durations for {len(labels)} labels")
    lengths, group = np.unique(np.asarray(durations_s, dtype=float), return_inverse=True)
    levels = np.arange(LOWEST, HIGHEST + 1)
    errors = np.zeros((len(lengths), _LEVELS))
    np.add.at(errors, group, np.abs(np.asarray(labels)[:, None] - levels))
    chosen = _ascending(errors)
    return tuple(_threshold(lengths, chosen, level) for level in range(1, _LEVELS))


def _ascending(errors: np.ndarray) -> np.ndarray:
    """Per row of errors (rows, levels) a level, none lower than the one before, with the least sum of errors."""
    best = np.zeros(errors.shape[1])
    came_from = []
    for row in errors:
        reached = np.minimum.accumulate(best)
        came_from.append([int(np.flatnonzero(best[: level + 1] == reached[level])[0]) for level in range(len(row))])
        best = reached + row
    level, levels = int(np.argmin(best)), []
    for choices in reversed(came_from):
        levels.append(level)
        level = choices[level]
    return np.array(levels[::-1])


def _threshold(lengths: np.ndarray, chosen: np.ndarray, level: int) -> float:
    """Half way between the longest video below the level and the shortest one that reaches it."""
    first = int(np.searchsorted(chosen, level))
    if first == len(lengths):
        return float("inf")
    return 0.0 if first == 0 else float(lengths[first - 1] + lengths[first]) / 2
