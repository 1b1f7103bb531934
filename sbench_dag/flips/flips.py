"""What a repeat says: how many verdicts are others than the first time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from sbench_dag.files import write_whole
from sbench_dag.flips.latest import RESULT
from sbench_dag.flips.repeat import REPEATED
from sbench_dag.flips.sample import Sample
from sbench_dag.outcomes import Outcome
from sbench_dag.reports.grid import Results
from sbench_dag.stats.intervals import wilson
from sbench_dag.study import Study
from sbench_dag.work.store import Line

VERDICTS: Mapping[str, str] = {
    "reached": "stage_b",
    "lifted": "stage_c",
    "lifted_held": "stage_c",
    "final_state": "stage_c",
}
"""What is compared, and the gate that says it. final_state: the hash of the simulator's state at the end."""


class _Seen(NamedTuple):
    """One verdict on one plan, the first time and again. None: there was nothing to say."""

    plan: str
    verdict: str
    first: bool | str | None
    repeat: bool | str | None


def count_flips(results: Results, repeat: Study, sample: Sample) -> dict[str, Any]:
    """Counts the flips and stores them: what `sbench flip --json` prints and `latest_flip` finds.

    A verdict's denominator are the plans that have it, the first time or again; what became invalid in the repeat is
    in none, but in `invalid`.
    """
    again = Results(repeat)
    invalid = [found for key in sample.plans if (found := _invalid(again, key))]
    seen = [one for key in sample.plans for one in _compare(results, again, key)]
    found = {
        "study": results.study.name,
        "folder": repeat.folder.relative_to(results.study.folder).as_posix(),
        "finished": time.time(),
        **{name: value for name, value in asdict(sample).items() if name != "plans"},
        "sampled": len(sample.plans),
        "policy": results.study.policy.name,
        "verdicts": [_rate(name, [one for one in seen if one.verdict == name]) for name in VERDICTS],
        "flipped": [one._asdict() for one in seen if one.first != one.repeat],
        "invalid": invalid,
    }
    write_whole(repeat.folder / RESULT, json.dumps(found, indent=1) + "\n")
    return found


def _invalid(again: Results, key: str) -> dict[str, Any] | None:
    """The first gate that could not say anything this time."""
    for gate in REPEATED:
        line = again.of(gate).get(key)
        if line is None or not line.outcome.is_result:
            outcome = str(line.outcome if line else Outcome.NOT_RUN)
            reason = str(line.result.reason) if line and line.result.reason else None
            message = line.result.message if line else ""
            return {"plan": key, "gate": gate, "outcome": outcome, "reason": reason, "message": message}
    return None


def _compare(results: Results, again: Results, key: str) -> Iterable[_Seen]:
    for verdict, gate in VERDICTS.items():
        first, repeat = results.of(gate)[key], again.of(gate).get(key)
        if repeat is None or not repeat.outcome.is_result:
            continue
        said = _said(first, verdict), _said(repeat, verdict)
        if said != (None, None):
            yield _Seen(key, verdict, *said)


def _said(line: Line, verdict: str) -> bool | str | None:
    """None for what did not come that far: Stage C of what was not reached, the states of what was not simulated."""
    if verdict == "reached":
        return line.outcome is Outcome.SUCCESS
    if verdict == "final_state":
        return line.row.get("final_state")
    if line.outcome is Outcome.NOT_APPLICABLE:
        return None
    return line.outcome is Outcome.SUCCESS if verdict == "lifted" else bool(line.row.get("success_held", False))


def _rate(verdict: str, seen: list[_Seen]) -> dict[str, Any]:
    rate = wilson(sum(one.first != one.repeat for one in seen), len(seen))
    return {
        "verdict": verdict,
        "gate": VERDICTS[verdict],
        "flips": rate.count,
        "n": rate.n,
        "rate": rate.rate,
        "low": rate.low,
        "high": rate.high,
    }
