"""What requests cost, and the cap on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sbench_dag.errors import SbenchError


class SpendError(SbenchError):
    """Nothing more may be sent; the text says why."""


@dataclass(frozen=True)
class Prices:
    """In dollars, as are all amounts here. cap: for one run of a model."""

    input_per_million: float
    output_per_million: float
    cap: float

    def cost(self, usage: Mapping[str, Any]) -> float:
        """Of a response's `usage`.

        Raises:
            ValueError: it does not say how many tokens were used.
        """
        tokens = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
        match tokens:
            case [int(read), int(written)] if min(read, written) >= 0:
                return (read * self.input_per_million + written * self.output_per_million) / 1e6
        raise ValueError(f"usage = {dict(usage)}")


class Spend:
    """Lets requests through while they fit under the cap: what is spent, and the dearest request so far for each that
    is under way. Until the first has told its cost, there is one at a time. prices: None if nothing is counted."""

    def __init__(self, prices: Prices | None):
        self._prices = prices
        self._changed = threading.Condition()
        self._spent = self._dearest = 0.0
        self._under_way = 0
        self._closed = ""

    @contextmanager
    def request(self) -> Iterator[Spend]:
        """Around one request; `pay` has to be called inside with what it used.

        Raises:
            SpendError: another request may go over the cap, or the server does not say what it uses.
        """
        self._enter()
        try:
            yield self
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def pay(self, usage: Any) -> dict[str, Any]:
        """usage: as the response has it. Returns it with its cost."""
        counted = dict(usage) if isinstance(usage, Mapping) else {}
        if self._prices is None:
            return counted
        with self._changed:
            try:
                cost = self._prices.cost(counted)
            except ValueError as error:
                self._closed = f"the server does not say what a request used ({error}), so the spend cap can't be kept"
                return counted
            self._spent += cost
            self._dearest = max(self._dearest, cost)
        return {**counted, "cost": cost}

    def _enter(self) -> None:
        with self._changed:
            while not self._fits():
                if self._closed:
                    raise SpendError(self._closed)
                self._changed.wait()
            self._under_way += 1

    def _fits(self) -> bool:
        if self._prices is None:
            return True
        if not self._closed and not self._under_way and self._spent + self._dearest > self._prices.cap:
            self._closed = (
                f"the spend cap of ${self._prices.cap:g} is reached: ${self._spent:.4f} are spent, "
                f"and a request costs up to ${self._dearest:.4f}"
            )
        if self._closed:
            return False
        if not self._dearest:
            return not self._under_way
        return self._spent + (self._under_way + 1) * self._dearest <= self._prices.cap
