"""Scores that a study has already: each (rollout, instruction, model) is scored once, whatever else changes.

They stand in the store under `scores`, one line each with its protocol. What got no answer is not remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sbench_dag.outcomes import Outcome
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.base import RewardModel, identity_hash
from sbench_dag.rewards.score import Score, Status
from sbench_dag.work.fingerprint import combine, fingerprint
from sbench_dag.work.item import Result
from sbench_dag.work.store import Segment, Store

_SCORES = "scores"


@dataclass(frozen=True)
class Asked:
    """An example and a hash of its video's content."""

    example: Example
    video_sha256: str


class Memo:
    """Of one process; what others store meanwhile is seen by the next one."""

    def __init__(self, store: Store):
        self._store = store

    def ask(self, name: str, model: RewardModel, asked: Sequence[Asked]) -> None:
        """Has the model score what it has not scored yet. Scores are stored as they come, whatever it raises later."""
        new = {key: one.example for key, one in self._keys(name, model, asked).items() if key not in self._seen}
        for key, score in zip(new, model.score(list(new.values())) if new else (), strict=True):
            if score.status is not Status.MISSING:
                self._segment.append(*key, Result(Outcome.SUCCESS, row=_row(score)))
            self._seen[key] = score  # also what got no answer: one process asks once

    def known(self, name: str, model: RewardModel, asked: Sequence[Asked]) -> list[Score | None]:
        """One for each, in their order; None where it has not been asked."""
        return [self._seen.get(key) for key in self._keys(name, model, asked)]

    def _keys(self, name: str, model: RewardModel, asked: Sequence[Asked]) -> dict[tuple[str, str], Asked]:
        identity = identity_hash(model)
        return {(f"{one.example.id}|{name}", _fingerprint(identity, one)): one for one in asked}

    @cached_property
    def _seen(self) -> dict[tuple[str, str], Score]:
        return {(line.key, line.fingerprint): _score(line.row) for line in self._store.lines(_SCORES)}

    @cached_property
    def _segment(self) -> Segment:
        return self._store.segment(_SCORES)


def _fingerprint(identity: str, asked: Asked) -> str:
    return combine([identity, asked.video_sha256, fingerprint(asked.example.task, asked.example.prompt)])


def _row(score: Score) -> dict[str, Any]:
    return asdict(score)


def _score(row: dict[str, Any]) -> Score:
    return Score(**{**row, "status": Status(row["status"])})
