"""Limits that a sound study keeps. They stop nothing; G1 and G2, which do, are in stops.py.

Each is undecided while something that it looks at has not run, unless that can't change the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from sbench_dag.dataset.answers import BLIND
from sbench_dag.outcomes import Outcome
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.grid import Results
from sbench_dag.stops import State


@dataclass(frozen=True)
class Finding:
    """What was measured over `n` items, and the limit. value: None where there is nothing to measure yet."""

    state: State
    text: str
    value: float | None
    limit: float
    n: int


def gate_pass_rate(results: Results) -> Finding:
    """Of the episodes that were tried, enough passed G0."""
    episodes, lines = results.study.manifest.episodes, results.of("g0_spike")
    tried = [e for e in episodes if e in lines and lines[e].outcome is not Outcome.NOT_RUN]
    passed = sum(lines[episode].outcome is Outcome.SUCCESS for episode in tried)
    limit, left = results.study.stop.gate_pass_min, len(episodes) - len(tried)
    text = f"G0 passed {passed} of {len(tried)} episodes{_not_run(left)}"
    value = passed / len(tried) if tried else None
    return Finding(_state(left == 0 and bool(tried), passed >= limit * len(tried)), text, value, limit, len(tried))


def lowest_match_ratio(results: Results) -> Finding:
    """Of every episode's tracked bodies, enough were found in the rebuilt scene."""
    episodes, lines = results.study.manifest.episodes, results.of("g0_spike")
    ratios = {
        episode: float(check["value"])
        for episode in episodes
        if episode in lines
        for check in lines[episode].row.get("checks", [])
        if check["check"] == "match_ratio"
    }
    limit, left = results.study.restore.match_ratio_min, len(episodes) - len(ratios)
    without = f", {left} not checked" if left else ""
    if not ratios:
        return Finding(State.UNDECIDED, f"no episode was checked{without}", None, limit, 0)
    worst = min(ratios, key=lambda episode: (ratios[episode], episode))
    kept = ratios[worst] >= limit
    text = f"{ratios[worst]:.3f} of the tracked bodies of {worst}, the lowest of {len(ratios)} episodes{without}"
    return Finding(_state(left == 0 or not kept, kept), text, ratios[worst], limit, len(ratios))


def blind_reached(results: Results) -> Finding:
    """Answers of common sense reach much less than the truth does, or the questions do not ask for memory.

    Over the queries for which both are known. The limit is a share of the oracle's rate: what the harness can't reach
    says nothing about an answer.
    """
    reached: dict[str, dict[tuple[str, str], bool | None]] = {BLIND: {}, ORACLE: {}}
    left = 0
    for result in results.cells():
        if result.cell.source in reached:
            reached[result.cell.source][result.cell.episode, result.cell.query] = result.reached
            left += result.reached is None and result.outcome is Outcome.NOT_RUN
    blind, oracle = reached[BLIND], reached[ORACLE]
    both = [query for query, known in blind.items() if known is not None and oracle.get(query) is not None]
    share = results.study.stop.blind_reached_max
    if not blind:
        return Finding(State.UNDECIDED, "the study has no blind answers: its floor is not known", None, share, 0)
    floor, ceiling = (sum(bool(source[query]) for query in both) for source in (blind, oracle))
    text = f"blind reached {floor} of {len(both)} queries, the oracle {ceiling}{_not_run(left)}"
    if not ceiling:
        return Finding(State.UNDECIDED, f"{text}: nothing to compare with", None, share, len(both))
    limit = share * ceiling / len(both)
    return Finding(_state(left == 0, floor <= share * ceiling), text, floor / len(both), limit, len(both))


def _state(decided: bool, kept: bool) -> State:
    if not decided:
        return State.UNDECIDED
    return State.PASSED if kept else State.FAILED


def _not_run(count: int) -> str:
    return f", {count} not run yet" if count else ""
