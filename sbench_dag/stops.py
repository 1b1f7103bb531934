"""Gates that stop: G1 before any Stage C, G2 before more than a handful of it.

Both look at plans that give the true location as the answer. If the robot can't act on the truth, then its
failures say nothing about anybody's memory, and the expensive gates would measure the harness.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from sbench_dag.dataset.eval_spec import Scoring
from sbench_dag.outcomes import Outcome
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.grid import Results
from sbench_dag.study import Study

G1, G2 = "G1", "G2"


class Known(Protocol):
    """A stored line, or the little of it that a ledger keeps."""

    @property
    def outcome(self) -> Outcome: ...


class Outcomes(Protocol):
    """Today's stored outcomes of a study: `Results`, or a `Scan`."""

    @property
    def study(self) -> Study: ...

    def of(self, gate: str) -> Mapping[str, Known]: ...


class State(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision:
    """What a stopping gate says. `plans`: those it looked at; `text` names the counts and the limit.

    value: the share that came out right of the `n` that were completed; None where none was.
    """

    gate: str
    state: State
    text: str
    plans: tuple[str, ...]
    value: float | None
    limit: float
    n: int

    @property
    def passed(self) -> bool:
        return self.state is State.PASSED


class StoppedError(Exception):
    """A stopping gate did not pass and nobody overrode it."""

    def __init__(self, decision: Decision):
        super().__init__(f"{decision.gate} stops Stage C: {decision.text}")
        self.decision = decision


def oracle_reached(results: Outcomes) -> Decision:
    """G1: of the oracle plans that Stage B completed, enough reached. Every one of them must have been tried."""
    study = results.study
    plans = [plan for plan in study.manifest.plans if plan.is_oracle]
    return _decide(G1, plans, results.of("stage_b"), study.stop.oracle_reached_min, "reached")


def smoke_lifted(results: Outcomes) -> Decision:
    """G2: of the smoke plans that Stage C completed, enough lifted the object."""
    study = results.study
    return _decide(G2, smoke_plans(results), results.of("stage_c"), study.stop.smoke_lifted_min, "lifted")


def smoke_plans(results: Outcomes) -> list[Plan]:
    """A few oracle picks that reached, always the same ones, of as many categories and episodes as there are."""
    study, stage_b = results.study, results.of("stage_b")
    candidates = [
        p for p in study.manifest.plans if p.is_oracle and p.scoring is Scoring.LIFTED and _reached(p, stage_b)
    ]
    categories: Counter[str] = Counter()
    episodes: Counter[str] = Counter()
    chosen: list[Plan] = []
    while candidates and len(chosen) < study.stop.smoke_plans:
        plan = min(candidates, key=lambda p: (categories[p.category], episodes[p.episode], p.key))
        candidates.remove(plan)
        chosen.append(plan)
        categories[plan.category] += 1
        episodes[plan.episode] += 1
    return sorted(chosen, key=lambda plan: plan.key)


def stopped_by(results: Outcomes, todo: Collection[str]) -> Decision | None:
    """The stopping gate that would keep Stage C from running these plans, as things stand. Undecided ones do not."""
    g1 = oracle_reached(results)
    if g1.state is State.FAILED:
        return g1
    g2 = smoke_lifted(results)
    return g2 if g2.state is State.FAILED and _has_smoke_test(results, todo) else None


def stage_c_batches(
    study: Study, todo: Sequence[str], overridden: Callable[[Decision], bool]
) -> Iterator[tuple[str, list[str]]]:
    """The missing plans in the batches in which Stage C may run them: (gate, keys), each finished before the next.

    What G1 and G2 have to look at comes first, whether `todo` names it or not: the oracle plans through G0 and
    Stage B, and, where more than `smoke_plans` picks would have been executed by the end, the smoke plans. A whole
    run needs these results anyway, and a run over a part of the plans may start before Stage B has finished the rest.

    overridden: asked about a gate that did not pass; True goes on.

    Raises:
        StoppedError: a gate did not pass and was not overridden.
    """
    if not todo:
        return
    yield from _undecided(study)
    before = Results(study)
    _require(oracle_reached(before), overridden)
    stage_c = before.of("stage_c")
    first = []
    if _has_smoke_test(before, todo):
        first = [plan.key for plan in smoke_plans(before) if not _has_result(plan, stage_c)]
        if first:
            yield "stage_c", first
        _require(smoke_lifted(Results(study)), overridden)
    rest = [key for key in todo if key not in first]
    if rest:
        yield "stage_c", rest


def _has_smoke_test(results: Outcomes, todo: Collection[str]) -> bool:
    """Whether more picks would have been executed by the end of `todo` than the smoke test itself has."""
    stage_b, stage_c, wanted = results.of("stage_b"), results.of("stage_c"), set(todo)
    plans = results.study.manifest.plans
    by_then = sum(_executes(p, stage_b) and (p.key in wanted or _has_result(p, stage_c)) for p in plans)
    return by_then > results.study.stop.smoke_plans


def _undecided(study: Study) -> Iterator[tuple[str, list[str]]]:
    """What has to run before G1 can be decided."""
    results = Results(study)
    tried = {
        name: {k for k, line in results.of(name).items() if not _not_run(line)} for name in ("g0_spike", "stage_b")
    }
    plans = [plan for plan in study.manifest.plans if plan.is_oracle and plan.key not in tried["stage_b"]]
    episodes = sorted({plan.episode for plan in plans} - tried["g0_spike"])
    if episodes:
        yield "g0_spike", episodes
    if plans:
        yield "stage_b", [plan.key for plan in plans]


def record_override(study: Study, decision: Decision, why: str) -> None:
    """Appends to `overrides.jsonl`, which the report shows."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = {"gate": decision.gate, "why": f"{why} ({decision.text})", "time": now}
    with (study.folder / "overrides.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def _require(decision: Decision, overridden: Callable[[Decision], bool]) -> None:
    if not decision.passed and not overridden(decision):
        raise StoppedError(decision)


def _decide(gate: str, plans: Iterable[Plan], lines: Mapping[str, Known], limit: float, verb: str) -> Decision:
    keys = tuple(plan.key for plan in plans)
    outcomes = Counter(lines[key].outcome if key in lines else Outcome.NOT_RUN for key in keys)
    good, invalid, not_run = (outcomes[o] for o in (Outcome.SUCCESS, Outcome.INVALID, Outcome.NOT_RUN))
    completed = len(keys) - invalid - not_run
    text = f"{good} of {completed} oracle plans {verb}"
    if completed:
        text += f" ({good / completed:.3f}, limit {limit:g})"
    text += "".join(f", {count} {what}" for count, what in ((invalid, "invalid"), (not_run, "not run yet")) if count)
    passed = completed > 0 and good >= limit * completed
    state = State.UNDECIDED if not_run else State.PASSED if passed else State.FAILED
    return Decision(gate, state, text, keys, good / completed if completed else None, limit, completed)


def _executes(plan: Plan, stage_b: Mapping[str, Known]) -> bool:
    """Whether Stage C has something to try for a plan; where Stage B has no result yet, it may."""
    if plan.scoring is not Scoring.LIFTED:
        return False
    line = stage_b.get(plan.key)
    return plan.is_oracle or line is None or not line.outcome.is_result or line.outcome is Outcome.SUCCESS


def _reached(plan: Plan, stage_b: Mapping[str, Known]) -> bool:
    return plan.key in stage_b and stage_b[plan.key].outcome is Outcome.SUCCESS


def _not_run(line: Known) -> bool:
    return line.outcome is Outcome.NOT_RUN


def _has_result(plan: Plan, lines: Mapping[str, Known]) -> bool:
    return plan.key in lines and lines[plan.key].outcome.is_result
