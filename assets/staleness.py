"""Which partitions need a run: what the scan of the store finds, against what Dagster remembers of each partition.

Level-triggered: it asks what is, not what has happened, so that no update is ever lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from assets.code_version import code_version
from assets.memory import Memory, Remembered
from assets.provenance import last_version, of_other_code
from assets.scope import Scope, partitions_of
from sbench_dag.gate import Keys
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.stale import REPORT, SUMMARY, Item, Scan, State


@dataclass(frozen=True)
class Staleness:
    """The partitions of a step, in `order`, and the version that each has to have.

    stale: their inputs have changed, or nothing has been run, or Dagster has not been told of the result.
    invalid: what is wanted today has been tried, and has no result.
    failed: invalid, or Dagster shows them as failed for another reason: a run was lost, or stopped by a gate.
    harmless: they have today's result, so that a run only logs it again.
    """

    order: Sequence[str]
    versions: Mapping[str, str]
    stale: frozenset[str]
    invalid: frozenset[str]
    failed: frozenset[str]
    harmless: frozenset[str]


def staleness(memory: Memory, scope: Scope, scan: Scan, step: str) -> Staleness:
    """Of one step. A partition that is new waits for a reload; one that is gone stays in the order, as a gap in it."""
    items = scan.steps[step]
    if step == SUMMARY:
        return _of_summary(memory.instance, scope, items[""])
    keys, asset = keys_of(step), scope.key(step)
    known = memory.of(asset, scope.partitions.definitions[keys])
    code = code_version(Fingerprints(scan.study), step)
    made_of = (items, known, scope.partitions)
    return memory.conclude(asset, made_of, code, lambda: _conclude(memory, scope, scan, step, known, code))


def _conclude(memory: Memory, scope: Scope, scan: Scan, step: str, known: Remembered, code: str) -> Staleness:
    items, keys, partitions = scan.steps[step], keys_of(step), partitions_of(scan.study)
    members = partitions.members[keys]
    order = scope.partitions.keys[keys]
    there = [name for name in order if name in members]
    versions = {name: partitions.version(keys, name, lambda key: items[key].version) for name in there}
    states = {name: _states(items, members[name]) for name in there}
    invalid = frozenset(n for n in there if State.FAILED in states[n] and states[n] <= {State.FAILED, State.FRESH})
    harmless = frozenset(name for name in there if states[name] == {State.FRESH})
    told = frozenset(name for name in harmless if known.versions.get(name) == versions[name]) - known.failed
    told -= of_other_code(memory.instance, scope.key(step), code, known.events, told)
    everything = frozenset(there)
    failed = frozenset(name for name in there if State.FAILED in states[name]) | (known.failed & everything)
    return Staleness(order, versions, everything - invalid - told, invalid, failed, harmless)


def _states(items: Mapping[str, Item], keys: Sequence[str]) -> frozenset[State]:
    """Shared sets where a partition is one item: there may be 100,000."""
    return _ONE[items[keys[0]].state] if len(keys) == 1 else frozenset(items[key].state for key in keys)


_ONE = {state: frozenset({state}) for state in State}


def ready(scan: Scan, step: str) -> frozenset[str]:
    """The partitions of a step of whose items some can be run now, because the earlier gates have results."""
    allowed = {State.FRESH}
    return _those(scan, step, lambda todo: any(before <= allowed for before in todo))


def startable(scan: Scan, step: str) -> frozenset[str]:
    """Those whose earlier gates are through, with a result or without: what is invalid there is invalid here too."""
    allowed = {State.FRESH, State.FAILED}
    return _those(scan, step, lambda todo: all(before <= allowed for before in todo))


def _those(scan: Scan, step: str, choose: Callable[[list[set[State]]], bool]) -> frozenset[str]:
    """choose: asked with the states before each item that is not fresh; a partition of fresh ones is chosen."""
    if step in (REPORT, SUMMARY):
        return frozenset(scan.steps[step])
    gate, items = find_gate(step), scan.steps[step]
    found = set()
    for name, members in partitions_of(scan.study).members[gate.keys].items():
        todo = [scan.before(gate, key) for key in members if items[key].state is not State.FRESH]
        if not todo or choose(todo):
            found.add(name)
    return frozenset(found)


def keys_of(step: str) -> Keys:
    return Keys.EPISODE if step == REPORT else find_gate(step).keys


def _of_summary(instance: dg.DagsterInstance, scope: Scope, item: Item) -> Staleness:
    told = item.state is State.FRESH and last_version(instance, scope.key(SUMMARY)) == item.version
    one = frozenset({""})
    none: frozenset[str] = frozenset()
    stale = none if told else one
    return Staleness(("",), {"": item.version}, stale, none, none, one - stale)
