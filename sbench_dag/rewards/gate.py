"""Gate rollout rewards: the simulator's label of every Stage C rollout, and the scores of the study's reward models."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sbench_dag.errors import SbenchError
from sbench_dag.gate import Gate, Keys
from sbench_dag.manipulation.trace import read_trace
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.goal import goal_of, goal_over_time
from sbench_dag.rewards.memo import Asked
from sbench_dag.rewards.panel import identities
from sbench_dag.rewards.score import Score, Status
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context


def run(context: Context, item: WorkItem) -> Result:
    """The label and the scores, or not applicable where Stage C had nothing to roll out."""
    plan = context.plan(item.key)
    stage_c = context.upstream("stage_c", item.key)
    if "trace" not in stage_c.row:
        return Result(Outcome.NOT_APPLICABLE, Reason.NO_ROLLOUT, f"stage C: {stage_c.result.reason}")
    trace = read_trace(context.study.folder / stage_c.row["trace"]["file"])
    labels = goal_over_time(trace, goal_of(plan, stage_c.row["instances"]), context.study.judge)
    scores = context.panel.scores(asked)[0] if (asked := _asked(context, [item])) else {}
    row = {
        "label": int(labels[-1]),
        "video": stage_c.row["video"],
        "scores": {name: _shown(score) for name, score in scores.items()},
    }
    silent = {name: score.why for name, score in scores.items() if score.status is Status.MISSING}
    if silent:
        text = "; ".join(f"{name} gave no score: {why}" for name, why in silent.items())
        return Result(Outcome.INVALID, Reason.NO_SCORE, text, row)
    return Result(Outcome.SUCCESS, row=row)


def prepare(context: Context, items: Sequence[WorkItem]) -> None:
    """Has all models score all rollouts; the scores are remembered."""
    context.panel.scores(_asked(context, items))


def _asked(context: Context, items: Sequence[WorkItem]) -> list[Asked]:
    """The rollouts that have videos, and their instructions."""
    found = []
    for item in items:
        row: dict[str, Any] = {}
        with suppress(SbenchError):  # `run` will say it
            row = context.upstream("stage_c", item.key).row
        if row.get("video"):
            file, task = (
                context.study.folder / row["video"]["file"],
                goal_of(context.plan(item.key), row["instances"]).text,
            )
            found.append(Asked(Example(item.key, file, task), row["video"]["sha256"]))
    return found


def _shown(score: Score) -> dict[str, Any]:
    """Without the protocol, which stands with the stored score."""
    return {name: value for name, value in asdict(score).items() if name != "protocol"}


ROLLOUT_REWARDS = Gate(
    name="rollout_rewards",
    description="Labels each rollout from 1 to 5 by the simulator's truth; reward models score its video.",
    keys=Keys.PICK,
    code_version="2",
    modules=("sbench_dag.rewards.rubric", "sbench_dag.rewards.goal", "sbench_dag.rewards.gate"),
    upstream=("stage_c",),
    settings=lambda study: (study.judge, identities(study)),
    run=run,
    cost_s=0.1,
    prepare=prepare,
    batch=64,
)
