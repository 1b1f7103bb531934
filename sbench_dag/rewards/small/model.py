"""The small model as a reward model. What it depends on is known without torch, which takes seconds to import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import Score
from sbench_dag.rewards.small.about import revision

if TYPE_CHECKING:
    from sbench_dag.rewards.small.judge import Judge


class SmallModel:
    """weights: the folder that `sbench rewards train` wrote. device: "auto" takes a GPU if there is one."""

    def __init__(self, weights: Path, device: str = "auto", batch: int = 32, threads: int = 4, name: str = "small"):
        self.weights, self.device, self.batch, self.threads, self.name = weights, device, batch, threads, name

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.name, "revision": revision(self.weights)}

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        return self._judge.score(examples, self.batch, self.threads)

    @cached_property
    def _judge(self) -> Judge:
        from sbench_dag.rewards.small.judge import Judge

        return Judge(self.weights, self.device, self.identity)
