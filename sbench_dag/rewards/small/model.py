"""The small model as a reward model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import av
import torch

from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import LOWEST, Score, Status
from sbench_dag.rewards.small.checkpoint import load, revision
from sbench_dag.rewards.small.frames import look
from sbench_dag.rewards.small.network import Network, probabilities, scores
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.words import Words
from sbench_dag.rewards.video import Clip, VideoError


class SmallModel:
    """weights: the folder that `sbench rewards train` wrote. device: "auto" takes a GPU if there is one."""

    def __init__(self, weights: Path, device: str = "auto", batch: int = 32, threads: int = 4, name: str = "small"):
        self.weights, self.batch, self.threads, self.name = weights, batch, threads, name
        self.device = choose_device(device)

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.name, "revision": revision(self.weights)}

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        seen = map_ahead(self._look, examples, self.threads, ahead=2 * self.batch)
        waiting: list[tuple[str, torch.Tensor | None, Mapping[str, Any]]] = []
        for example, (frames, about) in zip(examples, seen, strict=True):
            waiting.append((example.task, frames, about))
            if len(waiting) == self.batch:
                yield from self._judge(waiting)
                waiting = []
        yield from self._judge(waiting)

    @cached_property
    def _loaded(self) -> tuple[Network, Words, Settings]:
        return load(self.weights, self.device)

    def _look(self, example: Example) -> tuple[torch.Tensor | None, Mapping[str, Any]]:
        """The frames and what a protocol says of them; or None and why there are none."""
        try:
            frames, clip = look(example.video, self._loaded[2].size)
        except VideoError as error:
            return None, {"why": str(error)}
        return frames, self._protocol(clip)

    def _judge(self, batch: Sequence[tuple[str, torch.Tensor | None, Mapping[str, Any]]]) -> Iterator[Score]:
        network, words, _ = self._loaded
        there = [(task, frames) for task, frames, _ in batch if frames is not None]
        above = torch.zeros((0, 4))
        if there:
            tasks = words.encode([task for task, _ in there]).to(self.device)
            with torch.inference_mode():
                above = probabilities(network(torch.stack([f for _, f in there]).to(self.device), tasks)).cpu()
        values, expected = iter(scores(above).tolist()), iter((LOWEST + above.sum(dim=1)).tolist())
        for _, frames, about in batch:
            if frames is None:
                yield Score(Status.MISSING, why=about["why"], protocol=self.identity)
            else:
                yield Score(Status.SCORED, next(values), expected=round(next(expected), 4), protocol=about)

    def _protocol(self, clip: Clip) -> Mapping[str, Any]:
        return {
            **self.identity,
            **clip.seen,
            "size": self._loaded[2].size,
            "device": self.device.type,
            "torch": torch.__version__,
            "av": av.__version__,
        }


def choose_device(name: str) -> torch.device:
    """auto: a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
