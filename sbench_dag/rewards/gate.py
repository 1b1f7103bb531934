"""Gate rollout rewards: the simulator's label of every Stage C rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sbench_dag.gate import Gate, Keys
from sbench_dag.manipulation.trace import read_trace
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.rewards.goal import goal_of, goal_over_time
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context


def run(context: Context, item: WorkItem) -> Result:
    """The label, or not applicable where Stage C had nothing to roll out."""
    plan = context.plan(item.key)
    stage_c = context.upstream("stage_c", item.key)
    if "trace" not in stage_c.row:
        return Result(Outcome.NOT_APPLICABLE, Reason.NO_ROLLOUT, f"stage C: {stage_c.result.reason}")
    trace = read_trace(context.study.folder / stage_c.row["trace"]["file"])
    labels = goal_over_time(trace, goal_of(plan, stage_c.row["instances"]), context.study.judge)
    return Result(Outcome.SUCCESS, row={"label": int(labels[-1]), "video": stage_c.row["video"]})


ROLLOUT_REWARDS = Gate(
    name="rollout_rewards",
    description="Labels each rollout from 1 to 5 by what the simulator knows of it.",
    keys=Keys.PICK,
    code_version="2",
    modules=("sbench_dag.rewards.rubric", "sbench_dag.rewards.goal", "sbench_dag.rewards.gate"),
    upstream=("stage_c",),
    settings=lambda study: study.judge,
    run=run,
    cost_s=0.01,
)
