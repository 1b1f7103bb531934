"""Where a rollout's video may be cut, so that the simulator can label what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.manipulation.trace import RETRACTING, Trace
from sbench_dag.manipulation.video import FPS
from sbench_dag.rewards.goal import Goal, goal_over_time
from sbench_dag.rewards.rubric import held_steps, label_of_each
from sbench_dag.rewards.score import LABELS
from sbench_dag.study import JudgeSettings

NAMES = ("early", "middle", "late")
_SHORTEST_S = 0.5


@dataclass(frozen=True)
class Cut:
    """A video's beginning. frames: how many are kept. label: of what the last of them shows. name: see NAMES."""

    name: str
    frames: int
    label: int

    @property
    def seconds(self) -> float:
        """How long the clip lasts."""
        return round(self.frames / FPS, 3)


def steps_shown(trace: Trace) -> np.ndarray:
    """(F,) how many control steps had been made when each frame of the rollout's video was taken."""
    shown: list[int] = []
    for steps, time_s in enumerate(np.concatenate([[0.0], trace.time_s[:-1]])[: len(trace.time_s)]):
        if time_s >= len(shown) / FPS - 1e-9:
            shown.append(steps)
    return np.array(shown, dtype=int)


def choose_cuts(trace: Trace, goal: Goal, settings: JudgeSettings, rng: np.random.Generator) -> list[Cut]:
    """Up to three cuts, in time's order, each with a label of its own where there are that many.

    None is a full success, none lies where the arm is brought home, and none where an object has been up for the
    hold time already while its attempt goes on: by the rubric that is a 4, and nobody could tell it from a 5.
    """
    shown = steps_shown(trace)
    labels = goal_over_time(trace, goal, settings)[shown]
    fit = (labels < LABELS[-1]) & _is_clear(trace, goal, settings)[shown]
    fit &= np.arange(1, len(shown) + 1) >= _SHORTEST_S * FPS
    stretches = {score: np.flatnonzero(fit & (labels == score)) for score in LABELS}
    frames = sorted(_draw([frames for frames in stretches.values() if len(frames)], rng))
    return [Cut(name, frame + 1, int(labels[frame])) for name, frame in zip(NAMES, frames, strict=False)]


def _is_clear(trace: Trace, goal: Goal, settings: JudgeSettings) -> np.ndarray:
    """(T + 1,) whether what can be seen after that many steps is what the label says."""
    unfinished = label_of_each(trace, goal.instances, settings)[1:] < LABELS[-1]
    undecided = (held_steps(trace, goal.instances, settings) & unfinished).any(axis=1)
    return np.concatenate([[True], ~undecided & (trace.attempt != RETRACTING)])


def _draw(stretches: Sequence[np.ndarray], rng: np.random.Generator) -> set[int]:
    """Three frames of as many stretches as possible: the first, the last, one in between; or several of the longest."""
    if not stretches:
        return set()
    if len(stretches) > len(NAMES):
        stretches = [stretches[0], stretches[int(rng.integers(1, len(stretches) - 1))], stretches[-1]]
    frames = {int(rng.choice(stretch)) for stretch in stretches}
    left = np.setdiff1d(max(stretches, key=len), list(frames))
    more = min(len(NAMES) - len(frames), len(left))
    return frames | {int(frame) for frame in rng.choice(left, more, replace=False)}
