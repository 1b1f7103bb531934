"""The protocol that all reward models share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import Score
from sbench_dag.work.fingerprint import fingerprint

SCORING_VERSION = "1"  # raise it when the same model gives other scores: of other frames, or of answers read otherwise


class RewardModel(Protocol):
    @property
    def identity(self) -> Mapping[str, Any]:
        """All that its scores depend on besides the example, as JSON: equal identities give equal scores, as far as
        the model can promise it. Known without loading weights."""
        ...

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        """One score per example, in their order, as they come; batched inside. One bad example never stops others."""
        ...


def identity_hash(model: RewardModel) -> str:
    """16 hex digits: what of a model's stored scores still holds."""
    return fingerprint(SCORING_VERSION, model.identity)
