"""A data set of labelled videos in memory, as small frames."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.small.frames import FRAMES, look


@dataclass(frozen=True)
class Split:
    """n labelled videos. Videos that are one file share their frames.

    lines: of metadata.jsonl. frames (V, FRAMES, 3, S, S) uint8, frames_of (n,) which of them a line has.
    labels (n,).
    """

    lines: tuple[Mapping[str, Any], ...]
    frames: torch.Tensor
    frames_of: torch.Tensor
    labels: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", torch.tensor([line["reward"] for line in self.lines], dtype=torch.long))

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def tasks(self) -> list[str]:
        return [line["task"] for line in self.lines]

    @property
    def subsets(self) -> np.ndarray:
        return np.array([line.get("subset", "") for line in self.lines])

    @property
    def clusters(self) -> np.ndarray:
        return np.array([line.get("cluster", line["file_name"]) for line in self.lines])

    def of_kinds(self, kinds: Sequence[str]) -> Split:
        """The lines of these kinds alone."""
        chosen = [i for i, line in enumerate(self.lines) if line["kind"] in kinds]
        lines = tuple(self.lines[i] for i in chosen)
        return Split(lines, self.frames, self.frames_of[chosen])

    def to(self, device: torch.device) -> Split:
        return replace(self, frames=self.frames.to(device), frames_of=self.frames_of.to(device))


def read_lines(folder: Path, split: str) -> tuple[dict[str, Any], ...]:
    """`<folder>/<split>/metadata.jsonl`.

    Raises:
        SetupError: there is no such split.
        InputError: a line is no JSON, lacks a field, or has a reward that is not 1 to 5.
    """
    file = folder / split / "metadata.jsonl"
    try:
        texts = file.read_text().splitlines()
    except FileNotFoundError:
        raise SetupError(
            f"{file}: no such split; `sbench rewards make-dataset` needs five houses for all three"
        ) from None
    lines = []
    for number, text in enumerate(texts, start=1):
        try:
            line = json.loads(text)
        except ValueError:
            raise InputError(file, f"line {number}", text, "no JSON") from None
        for key, kind in (("file_name", str), ("task", str), ("reward", int)):
            if not isinstance(line.get(key), kind):
                raise InputError(file, f"line {number}: {key}", line.get(key), f"expected {kind.__name__}")
        if not 1 <= line["reward"] <= 5:
            raise InputError(file, f"line {number}: reward", line["reward"], "expected 1 to 5")
        lines.append(line)
    return tuple(lines)


def load_split(
    folder: Path, split: str, size: int, threads: int = 2, progress: Callable[[int, int], None] | None = None
) -> Split:
    """
    Raises:
        SetupError, InputError: see read_lines.
        VideoError: a video is missing or can't be decoded.
    """
    lines = read_lines(folder, split)
    videos = [folder / split / line["file_name"] for line in lines]
    same = [_identity(video) for video in videos]
    distinct = {identity: video for identity, video in zip(same, videos, strict=True)}
    place = {identity: number for number, identity in enumerate(distinct)}
    frames = torch.empty((len(distinct), FRAMES, 3, size, size), dtype=torch.uint8)
    seen = map_ahead(lambda video: look(video, size)[0], distinct.values(), threads, ahead=4 * threads)
    for number, small in enumerate(seen):
        frames[number] = small
        if progress is not None:
            progress(number + 1, len(distinct))
    return Split(lines, frames, torch.tensor([place[identity] for identity in same]))


def _identity(video: Path) -> object:
    try:
        stat = os.stat(video)
    except OSError:
        return video  # decoding says what is wrong with it
    return stat.st_dev, stat.st_ino
