"""Gate Stage B: every plan grounded and navigated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sbench_dag.gate import Gate, Keys
from sbench_dag.grounding.ground import Grounded, ground, plan_reached
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.plan import Plan
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.gate import require_sound
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context


def run(context: Context, item: WorkItem) -> Result:
    """Success: reached. Failure: the first selection's grounding failure, or too far."""
    plan = context.plan(item.key)
    require_sound(context, plan.episode, plan.query, plan.gt_bodies)
    grounded = ground(context.world(plan.episode), plan, context.study.navigation)
    reached = plan_reached(plan, grounded)
    row = {"reached": reached, "selections": [_row(plan, g) for g in grounded]}
    if reached:
        return Result(Outcome.SUCCESS, row=row)
    failed = next((g for g in grounded if g.failure is not None), None)
    if failed is not None and failed.failure is not None:
        return Result(Outcome.FAILURE, failed.failure, failed.message, row)
    nearest = min((d.horizontal_m for g in grounded for d in g.distances), default=float("inf"))
    message = f"nearest ground-truth body {nearest:.2f} m away, limit {plan.r_support_m} m"
    return Result(Outcome.FAILURE, Reason.TOO_FAR, message, row)


def base_pose(row: Mapping[str, Any]) -> BasePose | None:
    """The base pose of a selection's row."""
    return BasePose(**row["base"]) if row["base"] is not None else None


def _row(plan: Plan, grounded: Grounded) -> dict[str, Any]:
    return {**asdict(grounded), "reached": sorted(grounded.reached(plan.r_support_m))}


STAGE_B = Gate(
    name="stage_b",
    description="Grounds each plan's answer in the house, drives there, and says whether the object was reached.",
    keys=Keys.PLAN,
    code_version="1",
    modules=("sbench_dag.grounding", "sbench_dag.plans.plan"),
    upstream=("g0_spike",),
    settings=lambda study: study.navigation,
    run=run,
    cost_s=0.05,
)
