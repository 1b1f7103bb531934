"""Scores videos with a small model's network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import av
import torch

from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import LOWEST, Score, Status
from sbench_dag.rewards.small.checkpoint import load
from sbench_dag.rewards.small.frames import look
from sbench_dag.rewards.small.network import probabilities, scores
from sbench_dag.rewards.video import Clip, VideoError

_Seen = tuple[torch.Tensor | None, Mapping[str, Any]]


class Judge:
    """identity: what every protocol begins with."""

    def __init__(self, weights: Path, device: str, identity: Mapping[str, Any]):
        self._device, self._identity = choose_device(device), identity
        self._network, self._words, self._settings = load(weights, self._device)

    def score(self, examples: Sequence[Example], batch: int, threads: int) -> Iterator[Score]:
        seen = map_ahead(self._look, examples, threads, ahead=2 * batch)
        waiting: list[tuple[str, _Seen]] = []
        for example, what in zip(examples, seen, strict=True):
            waiting.append((example.task, what))
            if len(waiting) == batch:
                yield from self._judge(waiting)
                waiting = []
        yield from self._judge(waiting)

    def _look(self, example: Example) -> _Seen:
        """The frames and what a protocol says of them; or None and why there are none."""
        try:
            frames, clip = look(example.video, self._settings.size)
        except VideoError as error:
            return None, {"why": str(error)}
        return frames, self._protocol(clip)

    def _judge(self, batch: Sequence[tuple[str, _Seen]]) -> Iterator[Score]:
        there = [(task, frames) for task, (frames, _) in batch if frames is not None]
        above = torch.zeros((0, 4))
        if there:
            tasks = torch.from_numpy(self._words.encode([task for task, _ in there])).to(self._device)
            with torch.inference_mode():
                frames = torch.stack([frames for _, frames in there]).to(self._device)
                above = probabilities(self._network(frames, tasks)).cpu()
        values, expected = iter(scores(above).tolist()), iter((LOWEST + above.sum(dim=1)).tolist())
        for _, (frames, about) in batch:
            if frames is None:
                yield Score(Status.MISSING, why=about["why"], protocol=self._identity)
            else:
                yield Score(Status.SCORED, next(values), expected=round(next(expected), 4), protocol=about)

    def _protocol(self, clip: Clip) -> Mapping[str, Any]:
        return {
            **self._identity,
            **clip.seen,
            "size": self._settings.size,
            "device": self._device.type,
            "torch": torch.__version__,
            "av": av.__version__,
        }


def choose_device(name: str) -> torch.device:
    """auto: a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
