"""Labelled videos in memory, as small frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.bench.lines import jsonl
from sbench_dag.rewards.bench.roboreward import METADATA, read_roboreward
from sbench_dag.rewards.example import LabelledExample
from sbench_dag.rewards.small.frames import FRAMES, look


@dataclass(frozen=True)
class Split:
    """n labelled videos. Those that are one file share their frames.

    kinds: (n,) what make-dataset calls them; "" where a data set does not say. durations_s: (n,).
    frames: (V, FRAMES, 3, S, S) uint8. frames_of: (n,) which of them each has.
    """

    examples: tuple[LabelledExample, ...]
    kinds: np.ndarray
    durations_s: np.ndarray
    frames: torch.Tensor
    frames_of: torch.Tensor

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def tasks(self) -> list[str]:
        return [labelled.example.task for labelled in self.examples]

    @property
    def labels(self) -> np.ndarray:
        return np.array([labelled.label for labelled in self.examples], dtype=int)

    @property
    def subsets(self) -> np.ndarray:
        return np.array([labelled.subset for labelled in self.examples])

    @property
    def clusters(self) -> np.ndarray:
        return np.array([labelled.cluster for labelled in self.examples])

    def of_kinds(self, kinds: Collection[str]) -> Split:
        """The videos of these kinds alone."""
        chosen = np.flatnonzero(np.isin(self.kinds, list(kinds)))
        return Split(
            tuple(self.examples[i] for i in chosen),
            self.kinds[chosen],
            self.durations_s[chosen],
            self.frames,
            self.frames_of[torch.from_numpy(chosen)],
        )

    def unseen(self) -> Split:
        """The same with nothing but grey to look at."""
        return replace(self, frames=torch.full_like(self.frames, 127))

    def to(self, device: torch.device) -> Split:
        return replace(self, frames=self.frames.to(device), frames_of=self.frames_of.to(device))


def load_split(
    folder: Path, split: str, size: int, threads: int = 2, progress: Callable[[int, int], None] | None = None
) -> Split:
    """`<folder>/<split>` in RoboReward's layout. progress: called with the number of decoded videos and that of all.

    Raises:
        SetupError: there is no such split, or it lacks videos.
        BadRowsError: see read_roboreward.
        VideoError: a video can't be decoded.
    """
    file = folder / split / METADATA
    if not file.exists():
        raise SetupError(f"{file}: does not exist; of less than five houses make-dataset makes no {split} split")
    data = read_roboreward(folder / split, split)
    if data.missing:
        raise SetupError(f"{data.missing[0]} ({len(data.missing)} in all)")
    same = [_identity(labelled.example.video) for labelled in data.examples]
    distinct = dict(zip(same, (labelled.example.video for labelled in data.examples), strict=True))
    place = {identity: number for number, identity in enumerate(distinct)}
    frames, durations = torch.empty((len(distinct), FRAMES, 3, size, size), dtype=torch.uint8), np.empty(len(distinct))
    seen = map_ahead(lambda video: look(video, size), distinct.values(), threads, ahead=4 * threads)
    for number, (small, clip) in enumerate(seen):
        frames[number], durations[number] = small, clip.duration_s
        if progress is not None:
            progress(number + 1, len(distinct))
    frames_of = np.array([place[identity] for identity in same])
    return Split(data.examples, _kinds(file), durations[frames_of], frames, torch.from_numpy(frames_of))


def _kinds(file: Path) -> np.ndarray:
    return np.array([str(row.get("kind", "")) for _, row in jsonl(file) if not isinstance(row, InputError)])


def _identity(video: Path) -> Hashable:
    stat = video.stat()
    return stat.st_dev, stat.st_ino
