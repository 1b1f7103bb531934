"""Gate Stage C, on two levels: the rollout, which simulates, and the verdict, which judges its stored trace."""

from __future__ import annotations

import time
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbench_dag.errors import InvalidError
from sbench_dag.gate import Gate, Keys
from sbench_dag.grounding.gate import base_pose
from sbench_dag.manipulation.judge import Verdict, judge
from sbench_dag.manipulation.rollout import Pick, Rollout
from sbench_dag.manipulation.trace import Trace, read_trace, write_trace
from sbench_dag.manipulation.video import VideoWriter
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.plan import Plan
from sbench_dag.work.fingerprint import file_sha256
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context
    from sbench_dag.study import Study


def run_rollout(context: Context, item: WorkItem) -> Result:
    """Simulates one plan and stores trace and video. Success says that there is a trace, not that the pick worked."""
    plan, study = context.plan(item.key), context.study
    picks = picks_of(context, plan)
    world = context.world(plan.episode)
    name = f"{plan.key}/{context.fingerprints.of('rollout', plan.key)}"
    trace_file, video_file = study.traces / f"{name}.npz", study.videos / f"{name}.mp4"
    video = VideoWriter(video_file, study.video.width, study.video.height) if study.video.enabled else None
    rollout = Rollout(world, context.policy, study.policy, video, study.video)
    started = time.perf_counter()
    try:
        trace = rollout.run(picks, plan.gt_bodies, f"Pick up the {plan.category}")
    except BaseException:
        if video is not None:
            video.discard()
        raise
    simulated = time.perf_counter()
    write_trace(trace_file, trace)
    if video is not None:
        video.close()
    row = {
        "instances": [uid for uid, obj in sorted(world.scene.objects.items()) if plan.category in obj.names],
        "trace": _artefact(study, trace_file),
        "video": _artefact(study, video_file) if video is not None else None,
        "control_steps": len(trace.time_s),
        "simulated_s": round(float(trace.time_s[-1]) if len(trace.time_s) else 0.0, 3),
        "initial_state": rollout.initial_state,
        "final_state": world.state_hash(),
    }
    return Result(Outcome.SUCCESS, row=row, timings={"rollout_s": round(simulated - started, 3)})


def run(context: Context, item: WorkItem) -> Result:
    """The verdict on the plan's rollout, which is simulated only if there is none of today's fingerprint."""
    plan = context.plan(item.key)
    reached = context.upstream("stage_b", item.key)
    if not reached.row["reached"] and not plan.is_oracle:
        return Result(Outcome.NOT_APPLICABLE, Reason.NOT_REACHED, f"stage B: {reached.result.reason}")
    if not any(selection["base"] for selection in reached.row["selections"]):
        return Result(Outcome.FAILURE, reached.result.reason, f"not grounded: {reached.result.message}")
    if not picks_of(context, plan):
        what = f"no {plan.category} perceived at the answered place"
        return Result(Outcome.FAILURE, Reason.NOTHING_PERCEIVED, what)
    rollout, trace = _whole_rollout(context, item)
    verdict = judge(trace, plan.gt_bodies, plan.steps, context.study.judge)
    if verdict.true_at_reset:
        raise InvalidError(Reason.TRUE_AT_RESET, f"{plan.key}: lifted before the first action")
    row = {**asdict(verdict), **rollout}
    if verdict.success:
        return Result(Outcome.SUCCESS, row=row)
    return Result(Outcome.FAILURE, _why_not(verdict), _explain(verdict), row)


def picks_of(context: Context, plan: Plan) -> list[Pick]:
    """What Stage B grounded and perceived, in the plan's order."""
    picks = []
    for selection in context.upstream("stage_b", plan.key).row["selections"]:
        base = base_pose(selection)
        if base is not None and selection["approached"] is not None:
            picks.append(Pick(base, selection["approached"]))
    return picks


def _whole_rollout(context: Context, item: WorkItem) -> tuple[dict[str, Any], Trace]:
    """A stored rollout whose files are whole, or a new one."""
    line = context.obtain(ROLLOUT, item)
    trace = _read(context.study, line.row)
    if trace is None:
        line = context.obtain(ROLLOUT, item, again=True)
        trace = _read(context.study, line.row)
        if trace is None:
            raise InvalidError(
                Reason.HARNESS_ERROR, f"{item.key}: its trace can't be stored under {context.study.traces}"
            )
    return line.row, trace


def _read(study: Study, row: dict[str, Any]) -> Trace | None:
    for artefact in (row["trace"], row["video"]):
        if artefact is not None:
            file = study.folder / artefact["file"]
            if not file.exists() or file_sha256(file) != artefact["sha256"]:
                return None
    try:
        return read_trace(study.folder / row["trace"]["file"])
    except (OSError, ValueError, zipfile.BadZipFile):
        return None


def _artefact(study: Study, file: Path) -> dict[str, str]:
    return {"file": file.relative_to(study.folder).as_posix(), "sha256": file_sha256(file)}


def _why_not(verdict: Verdict) -> Reason:
    if verdict.actions_applied == 0:
        return Reason.NO_GRASP
    if verdict.others_lifted and not any(body.lifted for body in verdict.bodies):
        return Reason.WRONG_OBJECT_LIFTED
    if any(body.lifted for body in verdict.bodies):
        return Reason.NOT_ALL_LIFTED
    return Reason.NOT_LIFTED


def _explain(verdict: Verdict) -> str:
    heights = ", ".join(f"{b.body} rose {100 * b.highest_lift_m:.1f} cm" for b in verdict.bodies)
    others = f"; lifted instead: {', '.join(verdict.others_lifted)}" if verdict.others_lifted else ""
    return f"{heights}{others}"


ROLLOUT = Gate(
    name="rollout",
    description="Simulates the pick of each plan.",
    keys=Keys.PICK,
    code_version="1",
    modules=("sbench_dag.robot", "sbench_dag.manipulation"),
    upstream=("stage_b",),
    settings=lambda study: (study.policy, study.video),
    run=run_rollout,
)

STAGE_C = Gate(
    name="stage_c",
    description="Lets the policy pick what Stage B approached, and judges whether the right object was lifted.",
    keys=Keys.PICK,
    code_version="1",
    modules=("sbench_dag.manipulation.judge", "sbench_dag.manipulation.gate"),
    upstream=("rollout",),
    settings=lambda study: study.judge,
    run=run,
    cost_s=0.7,
)
