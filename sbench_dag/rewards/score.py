"""What a reward model made of an example. What is no score is never turned into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LOWEST, HIGHEST = 1, 5
LABELS = tuple(range(LOWEST, HIGHEST + 1))


class Status(StrEnum):
    """UNPARSEABLE: it answered, but not with exactly one score from 1 to 5. MISSING: it gave no answer at all."""

    SCORED = "scored"
    UNPARSEABLE = "unparseable"
    MISSING = "missing"


@dataclass(frozen=True)
class Score:
    """One answer about one example.

    value: 1 to 5 if status is SCORED, else None. why: what is wrong otherwise. answer: the raw text, if there was any.
    expected: the mean score over the model's own probabilities, where it gives them.
    protocol: all that the score depends on: model, revision, prompt hash, frame indices and times, decoding, versions.
    """

    status: Status
    value: int | None = None
    why: str = ""
    answer: str | None = None
    expected: float | None = None
    protocol: Mapping[str, Any] = field(default_factory=dict)
