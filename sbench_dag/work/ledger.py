"""What a gate's segments hold of each key, without the rows: read once, and then only what is added."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import NamedTuple

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.store import Line, Store, Tail


class Entry(NamedTuple):
    """A line without its row. message: only of what has no result. older: the key's line before this one."""

    fingerprint: str
    outcome: Outcome
    reason: Reason | None
    message: str
    made_of: Mapping[str, str]
    older: Entry | None


class Ledger:
    """One gate's. `refresh` takes in what has been appended since."""

    def __init__(self, store: Store, gate: str):
        self._tail = Tail(store, gate)
        self._last: dict[str, Entry] = {}

    def refresh(self) -> None:
        for line in self._tail.new():
            self._last[line.key] = _entry(line, self._last.get(line.key))

    def find(self, key: str, fingerprint: str) -> Entry | None:
        """The key's first result with this fingerprint; if there is none, the latest line that has it.

        The same choice as `Store.results`.
        """
        latest = first = None
        entry = self._last.get(key)
        while entry is not None:
            if entry.fingerprint == fingerprint:
                latest = latest or entry
                first = entry if entry.outcome.is_result else first
            entry = entry.older
        return first or latest

    def last_result(self, key: str) -> Entry | None:
        """The key's latest result, whatever its fingerprint."""
        entry = self._last.get(key)
        while entry is not None and not entry.outcome.is_result:
            entry = entry.older
        return entry


def _entry(line: Line, older: Entry | None) -> Entry:
    made_of = {intern(name): intern(part) for name, part in line.made_of.items()}
    message = "" if line.outcome.is_result else line.result.message
    return Entry(line.fingerprint, line.outcome, line.result.reason, message, made_of, older)
