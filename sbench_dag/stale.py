"""What of a study is out of date, and why: today's fingerprints against what the store and the pages hold.

It asks what is, not what has happened, so that no change is ever lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

from sbench_dag.dataset.dataset import DatasetInfo
from sbench_dag.gate import Gate, Keys
from sbench_dag.outcomes import Reason
from sbench_dag.pipeline import GATES, Fingerprints, gates_before, item_keys
from sbench_dag.plans.manifest import StoredManifest
from sbench_dag.reports.links import episode_page
from sbench_dag.reports.versions import SUMMARY_PAGE, episode_version, summary_version, written_version
from sbench_dag.study import Study, load_study
from sbench_dag.work.ledger import Entry, Ledger
from sbench_dag.work.store import Store, stamp

_T = TypeVar("_T")
REPORT, SUMMARY = "report", "summary"
EARLIER_GATE, UNKNOWN = "earlier gate", "unknown"


class State(StrEnum):
    """stale: there is a result, but of something that has changed. failed: the latest attempt at what is wanted today
    has no result, and the same attempt again would not have one either, unless the cause is gone.
    """

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    FAILED = "failed"


class Item(NamedTuple):
    """One item of a step. version: its fingerprint of today. why: what has changed, if it is stale."""

    state: State
    version: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scan:
    """steps: the items of each gate, of `report` (by episode) and of `summary` (one, "").

    found: the stored entries behind the items of the gates.
    """

    study: Study
    steps: Mapping[str, Mapping[str, Item]]
    found: Mapping[str, Mapping[str, Entry]]

    def of(self, gate: str) -> Mapping[str, Entry]:
        """Today's entries of a gate, as `Results.of` gives its lines."""
        return self.found[gate]

    def before(self, gate: Gate, key: str) -> set[State]:
        """The states of the gates before this one, for the key."""
        return _before(gate, key, self.study.manifest, self.steps)

    def rows(self) -> list[dict[str, object]]:
        """Counts for each step, as `sbench stale --json` prints them."""
        found = []
        for step, members in self.steps.items():
            counts = Counter(item.state for item in members.values())
            why = Counter(part for item in members.values() for part in item.why)
            states = {str(state): counts[state] for state in State}
            found.append({"gate": step, "items": len(members), **states, "why": dict(why.most_common())})
        return found


class Scanner:
    """Looks at one study again and again: what has not changed since the last look is not read again.

    The items of a step that are all as they were are the same object, so that others need not look again either.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._fingerprints: Fingerprints | None = None
        self._looks: dict[str, _Look] = {}
        self._last: Scan | None = None
        self._info: DatasetInfo | None = None
        store = Store(load_study(folder).results)
        self._ledgers = {gate.name: Ledger(store, gate.name) for gate in GATES}

    def scan(self) -> Scan:
        study = load_study(self._folder)
        last, self._looks = self._looks, {}  # should this scan fail, the next one looks at everything
        if self._info != study.dataset.info:
            last, self._info = {}, study.dataset.info  # every page shows it
        wanted = self._fingerprints = Fingerprints(study, self._fingerprints)
        touched = {key for ledger in self._ledgers.values() for key in ledger.refresh()}
        self._looks = {
            episode: self._look(episode, wanted, touched, last.get(episode)) for episode in study.manifest.episodes
        }
        is_as_before = last.keys() == self._looks.keys() and all(last[name] is self._looks[name] for name in last)
        before = self._last if is_as_before else None
        found = before.found if before else _joined([look.found for look in self._looks.values()])
        gates = {gate.name: before.steps[gate.name] for gate in GATES} if before else {}
        gates = gates or _joined([look.steps for look in self._looks.values()])
        pages = {name: _page(episode_page(study, name), look.page) for name, look in self._looks.items()}
        if before and before.steps[REPORT] == pages:
            pages = before.steps[REPORT]
        version = summary_version(study, [look.page for look in self._looks.values()])
        summary = {"": _page(study.reports / SUMMARY_PAGE, version)}
        self._last = Scan(study, {**gates, REPORT: pages, SUMMARY: summary}, found)
        return self._last

    def _look(self, episode: str, wanted: Fingerprints, touched: Set[str], last: _Look | None) -> _Look:
        """At one episode. touched: the keys with new lines. Nothing of another episode counts here."""
        entries = wanted.study.manifest.by_episode[episode]
        is_touched = bool(touched) and not touched.isdisjoint([episode, *(entry.key for entry in entries)])
        if last and wanted.is_as_before(episode) and not is_touched:
            return last
        steps: dict[str, dict[str, Item]] = {}
        stored: dict[str, dict[str, Entry]] = {}
        for gate in GATES:
            items, found = steps.setdefault(gate.name, {}), stored.setdefault(gate.name, {})
            for key in item_keys(gate, episode, entries):
                version = wanted.of(gate.name, key)
                entry = self._ledgers[gate.name].find(key, version)
                if entry is not None:
                    found[key] = entry
                items[key] = self._item(gate, key, version, entry, wanted, steps)
        return _Look(steps, stored, _page_version(wanted.study, episode, stored))

    def _item(
        self,
        gate: Gate,
        key: str,
        version: str,
        entry: Entry | None,
        wanted: Fingerprints,
        steps: Mapping[str, Mapping[str, Item]],
    ) -> Item:
        if entry is not None and entry.outcome.is_result:
            return Item(State.FRESH, version)
        if entry is not None and entry.reason is not Reason.INPUT_CHANGED:
            was_its_own = entry.reason not in (Reason.G0_FAILED, Reason.UPSTREAM_INVALID, Reason.UPSTREAM_MISSING)
            if was_its_own or _before(gate, key, wanted.study.manifest, steps) - {State.FRESH}:
                return Item(State.FAILED, version)
            return Item(State.STALE, version, (EARLIER_GATE,))
        last = self._ledgers[gate.name].last_result(key)
        if last is None:
            return Item(State.MISSING, version)
        return Item(State.STALE, version, _why(last, wanted.parts(gate.name, key)))


def _joined(parts: Sequence[Mapping[str, Mapping[str, _T]]]) -> dict[str, dict[str, _T]]:
    """What the episodes have of each gate, together."""
    found: dict[str, dict[str, _T]] = {gate.name: {} for gate in GATES}
    for part in parts:
        for name, members in found.items():
            members.update(part[name])
    return found


def _page_version(study: Study, episode: str, found: Mapping[str, Mapping[str, Entry]]) -> str:
    def look(gate: str, key: str) -> str:
        entry = found[gate].get(key)
        return stamp(entry.fingerprint, entry.outcome, entry.reason, entry.message) if entry else ""

    return episode_version(study, episode, look)


class _Look(NamedTuple):
    """One episode's items of each gate, the entries behind them, and the version that its page has to have."""

    steps: Mapping[str, Mapping[str, Item]]
    found: Mapping[str, Mapping[str, Entry]]
    page: str


def _page(file: Path, version: str) -> Item:
    written = written_version(file)
    if written is None:
        return Item(State.MISSING, version)
    return Item(State.FRESH, version) if written == version else Item(State.STALE, version, (EARLIER_GATE,))


def _before(gate: Gate, key: str, manifest: StoredManifest, steps: Mapping[str, Mapping[str, Item]]) -> set[State]:
    found = set()
    for up in gates_before(gate):
        name = manifest.entry[key].episode if up.keys is Keys.EPISODE else key
        found.add(steps[up.name][name].state)
    return found


def _why(last: Entry, parts: Mapping[str, str]) -> tuple[str, ...]:
    """The parts of the fingerprint that differ from the latest result's. Earlier gates only if nothing else does."""
    if not last.made_of:
        return (UNKNOWN,)
    changed = [name for name, part in parts.items() if last.made_of.get(name) != part]
    own = tuple(name for name in changed if name not in _GATE_NAMES)
    return own or (EARLIER_GATE,)


_GATE_NAMES = frozenset(gate.name for gate in GATES)
