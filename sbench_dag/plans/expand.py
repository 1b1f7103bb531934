"""From results of plans back to the cells that gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sbench_dag.dataset.eval_spec import Scoring
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.manifest import StoredManifest
from sbench_dag.plans.plan import Plan
from sbench_dag.work.store import Line


@dataclass(frozen=True)
class CellResult:
    """What became of one source's word on one query.

    question: a plan of the same query, for the query's strata; None if the episode's files are wrong.
    outcome: of the last gate that counts for the query: Stage C if its scoring is `lifted`, else Stage B.
    An abstention is a failure without a reason. reached, lifted and lifted_held are None where nothing is known.
    """

    cell: Cell
    question: Plan | None
    outcome: Outcome
    reason: Reason | None
    reached: bool | None
    lifted: bool | None
    lifted_held: bool | None

    @property
    def is_pick(self) -> bool:
        return self.question is not None and self.question.scoring is Scoring.LIFTED

    @property
    def label(self) -> str:
        """The class that a report counts this result in."""
        if self.cell.abstained:
            return "abstained"
        return f"{self.outcome}.{self.reason}" if self.reason else str(self.outcome)


def expand(
    manifest: Manifest | StoredManifest, stage_b: Mapping[str, Line], stage_c: Mapping[str, Line]
) -> list[CellResult]:
    """One result per cell, in the manifest's order. `stage_b` and `stage_c`: today's results by plan key."""
    questions = {(plan.episode, plan.query): plan for plan in manifest.plans}
    return [_expand_one(cell, questions.get((cell.episode, cell.query)), stage_b, stage_c) for cell in manifest.cells]


def _expand_one(
    cell: Cell, question: Plan | None, stage_b: Mapping[str, Line], stage_c: Mapping[str, Line]
) -> CellResult:
    if cell.abstained:
        return CellResult(cell, question, Outcome.FAILURE, None, False, False, False)
    if cell.plan is None:
        return CellResult(cell, question, Outcome.INVALID, cell.invalid, None, None, None)
    first = stage_b.get(cell.plan)
    if first is None or not first.outcome.is_result:
        return CellResult(cell, question, *_harness(first), None, None, None)
    reached = first.outcome is Outcome.SUCCESS
    if question is None or question.scoring is not Scoring.LIFTED:
        return CellResult(cell, question, first.outcome, first.result.reason, reached, None, None)
    if not reached:
        return CellResult(cell, question, Outcome.FAILURE, first.result.reason, False, False, False)
    second = stage_c.get(cell.plan)
    if second is None or not second.outcome.is_result:
        return CellResult(cell, question, *_harness(second), True, None, None)
    lifted = second.outcome is Outcome.SUCCESS
    held = bool(second.row.get("success_held", False))
    return CellResult(cell, question, second.outcome, second.result.reason, True, lifted, held)


def _harness(line: Line | None) -> tuple[Outcome, Reason | None]:
    """Of a plan without a result: not run, or invalid and why."""
    return (Outcome.NOT_RUN, None) if line is None else (line.outcome, line.result.reason)
