"""What a gate's page shows over time: the whole study as it stands after each run, and the run itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sbench_dag.gate import Gate, Keys
from sbench_dag.outcomes import Outcome
from sbench_dag.pipeline import items
from sbench_dag.reports.grid import Results
from sbench_dag.work.store import Line

_ITEM = {Keys.EPISODE: "episode", Keys.PLAN: "plan", Keys.PICK: "pick"}
_SUCCESS = {"g0_spike": "G0 passed", "stage_b": "reached", "stage_c": "lifted"}


def gate_numbers(
    results: Results, gate: Gate, requested: Collection[str], executed: Mapping[str, Line]
) -> dict[str, Any]:
    """By the gate's items, whatever its partitions are. executed: what this run has computed itself."""
    keys, lines, asked = [item.key for item in items(results.study, gate)], results.of(gate.name), set(requested)
    known = {key: line for key, line in lines.items() if key in asked and line.outcome.is_result}
    mine = {key: line for key, line in executed.items() if key in asked}
    return {
        **_prefixed("study", {**_counts(gate, keys, lines), **_speed(gate, lines)}),
        **_prefixed("this run", {**_counts(gate, [k for k in keys if k in asked], known | mine), **_speed(gate, mine)}),
    }


def _counts(gate: Gate, keys: Sequence[str], lines: Mapping[str, Line]) -> dict[str, Any]:
    outcomes = Counter(lines[key].outcome if key in lines else Outcome.NOT_RUN for key in keys)
    item = f"{_ITEM[gate.keys]}s"
    found: dict[str, Any] = {
        item: len(keys),
        "done": sum(count for outcome, count in outcomes.items() if outcome.is_result),
        "invalid": outcomes[Outcome.INVALID],
        "not run": outcomes[Outcome.NOT_RUN],
    }
    tried = outcomes[Outcome.SUCCESS] + outcomes[Outcome.FAILURE]
    if gate.name == "g0_spike":
        tried += outcomes[Outcome.INVALID]  # an episode that G0 rejects is invalid, never a failure
    if tried and gate.name in _SUCCESS:
        success = _SUCCESS[gate.name]
        found[success] = f"{outcomes[Outcome.SUCCESS]} of {tried} {item} that were tried"
        found[f"{success}, rate"] = round(outcomes[Outcome.SUCCESS] / tried, 4)
    return found


def _speed(gate: Gate, lines: Mapping[str, Line]) -> dict[str, Any]:
    """Over what was tried: what is not applicable takes no time."""
    tried = [line for line in lines.values() if line.outcome in (Outcome.SUCCESS, Outcome.FAILURE)]
    seconds = [line.result.timings["total_s"] for line in tried if "total_s" in line.result.timings]
    if not seconds:
        return {}
    item = _ITEM[gate.keys]
    return {f"seconds per {item}": round(sum(seconds) / len(seconds), 4), f"{item}s timed": len(seconds)}


def _prefixed(whose: str, numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{whose}: {name}": number for name, number in numbers.items()}
