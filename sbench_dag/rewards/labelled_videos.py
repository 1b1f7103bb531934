"""The videos of one episode's rollouts, whole and cut, with instructions and the simulator's labels."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sbench_dag.context import Context
from sbench_dag.errors import SetupError
from sbench_dag.manipulation.trace import Trace, read_trace
from sbench_dag.manipulation.video import FPS, VideoWriter
from sbench_dag.plans.plan import Plan
from sbench_dag.rewards.clips import choose_cuts, steps_shown
from sbench_dag.rewards.counterfactuals import counterfactuals, look_around
from sbench_dag.rewards.goal import Goal, goal_of, goal_over_time
from sbench_dag.rewards.video import FrameRule, decode
from sbench_dag.work.fingerprint import fingerprint

FULL, CLIP, COUNTERFACTUAL = "full", "clip", "counterfactual"
_EVERY_FRAME = FrameRule(at_least=1_000_000, at_most=1_000_000)


@dataclass(frozen=True)
class House:
    """Whose videos these are: one cluster, in one split."""

    subset: str
    cluster: str
    split: str


@dataclass(frozen=True)
class Kinds:
    """What is made besides the full videos with their own instructions."""

    clipping: bool = True
    counterfactuals: bool = True


@dataclass(frozen=True)
class Rollout:
    """A rollout by its plan's key, and hashes of its files."""

    plan: str
    trace: str
    video: str


def make_videos(
    context: Context, episode: str, rollouts: Sequence[Rollout], house: House, kinds: Kinds, out: Path
) -> list[dict[str, Any]]:
    """Writes the videos under `<out>/<split>/<subset>` and returns their lines of metadata.jsonl.

    Full videos are encoded again like the clips: nothing about a file shall tell whether it was cut.

    Raises:
        SetupError: a video has not the frames that its trace speaks of.
    """
    lines = []
    (out / house.split / house.subset).mkdir(parents=True, exist_ok=True)
    for rollout in rollouts:
        maker = _Maker(context, context.plan(rollout.plan), house, out / house.split)
        if len(maker.shown):  # a policy that never moved was not filmed
            lines += maker.full()
            lines += maker.clips() if kinds.clipping else ()
            lines += maker.counterfactuals() if kinds.counterfactuals else ()
    return lines


class _Maker:
    """Makes the videos of one rollout."""

    def __init__(self, context: Context, plan: Plan, house: House, folder: Path):
        row = context.upstream("stage_c", plan.key).row
        self.context, self.plan, self.house, self.folder = context, plan, house, folder
        self.trace: Trace = read_trace(context.study.folder / row["trace"]["file"])
        self.goal: Goal = goal_of(plan, row["instances"])
        self.shown = steps_shown(self.trace)
        if len(self.shown):
            video = context.study.folder / row["video"]["file"]
            self.frames = decode(video, _EVERY_FRAME).frames
            if len(self.frames) != len(self.shown):
                raise SetupError(f"{video}: {len(self.frames)} frames, and its trace speaks of {len(self.shown)}")

    def full(self) -> Iterator[dict[str, Any]]:
        self._write(self._name(FULL), len(self.frames))
        yield self._line(self._name(FULL), FULL, self.goal)

    def clips(self) -> Iterator[dict[str, Any]]:
        for cut in choose_cuts(self.trace, self.goal, self.context.study.judge, self._rng(CLIP)):
            name = self._name(f"{CLIP}-{cut.name}")
            self._write(name, cut.frames)
            about = {"reward": cut.label, "what": cut.name, "cut_s": cut.seconds, "duration_s": cut.seconds}
            yield {**self._line(name, CLIP, self.goal), **about}

    def counterfactuals(self) -> Iterator[dict[str, Any]]:
        """Linked to the full video, which is in the folder already."""
        house, settings = look_around(self.context.world(self.plan.episode)), self.context.study.judge
        found = counterfactuals(self.trace, self.goal, house, settings, self._rng(COUNTERFACTUAL))
        for number, other in enumerate(found):
            name = self._name(f"{COUNTERFACTUAL}-{number}")
            _link(self.folder / self._name(FULL), self.folder / name)
            yield {**self._line(name, COUNTERFACTUAL, other.goal), "what": other.kind}

    def _line(self, name: str, kind: str, goal: Goal) -> dict[str, Any]:
        return {
            "file_name": name,
            "task": goal.text,
            "reward": int(goal_over_time(self.trace, goal, self.context.study.judge)[-1]),
            "subset": self.house.subset,
            "cluster": self.house.cluster,
            "kind": kind,
            "what": "",
            "cut_s": None,
            "duration_s": round(len(self.frames) / FPS, 3),
            "episode": self.plan.episode,
            "plan": self.plan.key,
        }

    def _name(self, what: str) -> str:
        plan = re.sub(r"[^A-Za-z0-9_.-]", "-", self.plan.key)
        return f"{self.house.subset}/{self.house.cluster}_{plan}_{what}.mp4"

    def _write(self, name: str, count: int) -> None:
        height, width = self.frames.shape[1:3]
        writer = VideoWriter(self.folder / name, width, height)
        for frame in self.frames[:count]:
            writer.write(frame)
        writer.close()

    def _rng(self, what: str) -> np.random.Generator:
        return np.random.default_rng(int(fingerprint(self.plan.key, what), 16))


def _link(file: Path, name: Path) -> None:
    """A hard link, or a copy where the file system has none."""
    name.unlink(missing_ok=True)
    try:
        os.link(file, name)
    except OSError:
        shutil.copyfile(file, name)
