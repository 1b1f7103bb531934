"""What a gate's segments hold of each key, without the rows: read once, and then only what is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from sys import intern
from typing import NamedTuple

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.store import Line, Store, Tail


class Entry(NamedTuple):
    """A line without its row. message: only of what has no result. older: the key's entry that came before this one."""

    fingerprint: str
    outcome: Outcome
    reason: Reason | None
    message: str
    made_of: Mapping[str, str]
    segment: str
    older: Entry | None


class Ledger:
    """One gate's. `refresh` takes in what has been appended since."""

    def __init__(self, store: Store, gate: str):
        self._store, self._gate = store, gate
        self._forget()

    def refresh(self) -> set[str]:
        """Returns the keys of which there are new lines, or no longer all lines."""
        found: set[str] = set()
        if self._tail.has_lost:
            found.update(self._last)
            self._forget()
        for line in self._tail.new():
            self._last[line.key] = _entry(line, self._last.get(line.key))
            found.add(line.key)
        return found

    def find(self, key: str, fingerprint: str) -> Entry | None:
        """The key's first result with this fingerprint; if there is none, the latest line that has it.

        The same choice as `Store.results`, which goes by segments, in whatever order they were noticed here.
        """
        first = latest = None
        for entry in self._entries(key):
            if entry.fingerprint != fingerprint:
                continue
            if entry.outcome.is_result:
                first = entry if first is None or entry.segment <= first.segment else first
            latest = entry if latest is None or entry.segment > latest.segment else latest
        return first or latest

    def last_result(self, key: str) -> Entry | None:
        """The key's latest result, whatever its fingerprint."""
        return next((entry for entry in self._entries(key) if entry.outcome.is_result), None)

    def _entries(self, key: str) -> Iterator[Entry]:
        entry = self._last.get(key)
        while entry is not None:
            yield entry
            entry = entry.older

    def _forget(self) -> None:
        self._tail = Tail(self._store, self._gate)
        self._last: dict[str, Entry] = {}


def _entry(line: Line, older: Entry | None) -> Entry:
    made_of = {intern(name): intern(part) for name, part in line.made_of.items()}
    message = "" if line.outcome.is_result else line.result.message
    return Entry(line.fingerprint, line.outcome, line.result.reason, message, made_of, intern(line.segment), older)
