"""Instructions as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_PADDING, _UNKNOWN = 0, 1


@dataclass(frozen=True)
class Words:
    """The words that training has seen, in the alphabet's order; all others are the same unknown one."""

    known: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        return cls(tuple(sorted({word for text in texts for word in _split(text)})))

    def __len__(self) -> int:
        return len(self.known) + 2

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(B, longest) numbers, 0 where a text has ended."""
        index = {word: number for number, word in enumerate(self.known, start=2)}
        rows = [[index.get(word, _UNKNOWN) for word in _split(text)] or [_UNKNOWN] for text in texts]
        longest = max(map(len, rows), default=0)
        padded = [row + [_PADDING] * (longest - len(row)) for row in rows]
        return np.array(padded, dtype=np.int64).reshape(len(rows), longest)


def _split(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
