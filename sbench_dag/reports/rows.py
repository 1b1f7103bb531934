"""Plans with what is known of them, as lists and pages show it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sbench_dag.outcomes import Outcome
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.grid import Results


@dataclass(frozen=True)
class PlanRow:
    """One plan. outcome, reason and message are those of the last gate that had something of its own to say.

    video: relative to the study's folder. label: the simulator's 1 to 5.
    """

    plan: Plan
    outcome: str
    reason: str
    message: str
    label: int | None
    video: str | None

    @property
    def places(self) -> str:
        return "; ".join(f"{s.surface}, {s.room or 'any room'}" for s in self.plan.selections)

    @property
    def status(self) -> str:
        return f"{self.outcome}.{self.reason}" if self.reason else self.outcome

    def matches(self, status: str | None) -> bool:
        return status in (None, self.outcome, self.status)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self.plan), "outcome": self.outcome, "reason": self.reason or None,
                "message": self.message, "label": self.label, "video": self.video}  # fmt: skip


def plan_rows(results: Results) -> list[PlanRow]:
    """All plans of a study, in the manifest's order."""
    return [_plan_row(results, plan) for plan in results.study.manifest.plans]


def episode_rows(results: Results, episode: str) -> list[PlanRow]:
    """The plans of one episode, in the manifest's order."""
    return [_plan_row(results, plan) for plan in results.study.manifest.plans_of[episode]]


def _plan_row(results: Results, plan: Plan) -> PlanRow:
    lines = [line for gate in ("stage_b", "stage_c") if (line := results.of(gate).get(plan.key))]
    # what stage C calls not applicable is what stage B said already
    last = next((line for line in reversed(lines) if line.outcome is not Outcome.NOT_APPLICABLE), None)
    reward = results.of("rollout_rewards").get(plan.key)
    video = next((line.row["video"]["file"] for line in lines if line.row.get("video")), None)
    if last is None:
        return PlanRow(plan, str(Outcome.NOT_RUN), "", "", None, None)
    label = reward.row.get("label") if reward else None
    return PlanRow(plan, str(last.outcome), str(last.result.reason or ""), last.result.message, label, video)
