"""A page per plan: the question, the answers to it and the truth, where the robot went, and what became of it."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sbench_dag.dataset.eval_spec import Scoring, Steps
from sbench_dag.manipulation.trace import Trace, read_trace
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.build import Cell, heard
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.grid import Results
from sbench_dag.reports.house import House, anchor_area, is_floor, legs_of, others_of_its_kind
from sbench_dag.reports.html import template
from sbench_dag.reports.lift_chart import LiftChart, lift_chart
from sbench_dag.reports.rows import PlanRow, episode_rows
from sbench_dag.reports.words import LABELS, REASONS
from sbench_dag.work.fingerprint import file_sha256
from sbench_dag.work.store import Line

_GATES = ("g0_spike", "stage_b", "rollout", "stage_c", "rollout_rewards")


@dataclass(frozen=True)
class EpisodeView:
    """What the pages of one episode share. house: or why there is none."""

    results: Results
    episode: str
    house: House | str

    @cached_property
    def rows(self) -> list[PlanRow]:
        return episode_rows(self.results, self.episode)

    @cached_property
    def row(self) -> Mapping[str, PlanRow]:
        return {row.plan.key: row for row in self.rows}

    @cached_property
    def queries(self) -> Mapping[str, list[PlanRow]]:
        found: dict[str, list[PlanRow]] = {}
        for row in self.rows:
            found.setdefault(row.plan.query, []).append(row)
        return found

    @cached_property
    def cells(self) -> Mapping[str, list[Cell]]:
        found: dict[str, list[Cell]] = {}
        for cell in heard(self.results.study.manifest.cells_of[self.episode]):
            found.setdefault(cell.query, []).append(cell)
        return found

    def truth(self, plan: Plan) -> list[dict[str, str]]:
        """Each right body, and where it is: in the rebuilt house, or else as the truth says it of all of them."""
        said = next((row.places for row in self.queries[plan.query] if row.plan.is_oracle), "")
        places = {} if isinstance(self.house, str) else self.house.places(plan.gt_bodies)
        return [{"body": body, "where": places.get(body) or said} for body in plan.gt_bodies]


def render_plan(view: EpisodeView, row: PlanRow, stamp: str) -> str:
    """The page of one plan. What is missing is said, and raises nothing."""
    results, plan = view.results, row.plan
    lines = {gate: results.of(gate).get(view.episode if gate == "g0_spike" else plan.key) for gate in _GATES}
    stage_b, stage_c, reward = (_row_of(lines[gate]) for gate in ("stage_b", "stage_c", "rollout_rewards"))
    selections = stage_b.get("selections", ())
    chart, why_no_chart = _chart(results, plan, stage_c, selections)
    video, why_no_video = _video(results, plan, lines["stage_c"])
    return template("plan.html").render(
        stamp=stamp,
        study=results.study,
        row=row,
        plan=plan,
        headline=_headline(row, stage_c),
        truth=view.truth(plan),
        rule=_rule(plan),
        answers=_answers(view, plan),
        stops=[_stop(plan, number, selection) for number, selection in enumerate(selections, 1)],
        why_no_stops=_why_not_grounded(lines["stage_b"]),
        map=None if isinstance(view.house, str) else _map(view.house, plan, selections, results),
        why_no_map=view.house if isinstance(view.house, str) else "",
        is_wrong_house=bool(lines["g0_spike"] and lines["g0_spike"].outcome is not Outcome.SUCCESS),
        chart=chart,
        why_no_chart=why_no_chart,
        video=video,
        why_no_video=why_no_video,
        settings=results.study,
        verdict=stage_c if "bodies" in stage_c else None,
        reward=reward,
        labels=LABELS,
        made=[_made(gate, line) for gate, line in lines.items() if line],
        commands=_commands(results, plan, stage_c),
    )


def _row_of(line: Line | None) -> Mapping[str, Any]:
    return line.row if line else {}


def _headline(row: PlanRow, stage_c: Mapping[str, Any]) -> list[str]:
    """What became of the plan, in sentences."""
    if row.outcome == Outcome.NOT_RUN and not row.reason:
        return ["This plan has not been run."]
    if row.outcome == Outcome.SUCCESS:
        if row.plan.scoring is not Scoring.LIFTED:
            return ["The robot reached what was asked for. The question asks for no more."]
        if "success" not in stage_c:
            return ["The robot reached what was asked for. It has not been picked yet."]
        held = "held it long enough" if stage_c.get("success_held") else "did not hold it long enough"
        return [f"The robot lifted what was asked for, and {held}."]
    sentences = [REASONS[Reason(row.reason)]] if row.reason else []
    if row.outcome in (Outcome.INVALID, Outcome.NOT_RUN):
        sentences.append("That is the harness's fault, not the answer's: it counts as no failure of the answer.")
    return [*sentences, *([row.message] if row.message else [])]


def _answers(view: EpisodeView, plan: Plan) -> list[dict[str, Any]]:
    """What each source said to the plan's question."""
    found = []
    for cell in sorted(view.cells.get(plan.query, ()), key=lambda c: c.source):
        row = view.row.get(cell.plan or "")
        said = "abstained" if cell.abstained else row.places if row else "no usable answer"
        why = REASONS[cell.invalid] if cell.invalid else ""
        found.append({"cell": cell, "row": row, "said": said, "why": why, "is_this": cell.plan == plan.key})
    return found


def _stop(plan: Plan, number: int, selection: Mapping[str, Any]) -> dict[str, Any]:
    """One selection, as Stage B went about it."""
    place, approached, right = selection["selection"], selection["approached"], plan.gt_bodies
    if selection["base"] is None:
        words = REASONS[Reason(selection["failure"])] if selection["failure"] else ""
        went = f"{words} {selection['message']}".strip()
    elif approached is None:
        went = f"It saw no {plan.category} there, and stood before it."
    elif approached in right:
        went = f"It saw {approached} there, which is right, and went to it."
    else:
        went = f"It saw {approached} there, which is not what was asked for, and went to it."
    return {
        "number": number,
        "place": f"{place['surface']}, {place['room'] or 'any room'}",
        "anchor": selection["anchor"],
        "ambiguous": selection["ambiguous"],
        "went": went,
        "distances": selection["distances"],
    }


def _why_not_grounded(line: Line | None) -> str:
    if line is None:
        return "Stage B has not run."
    return line.result.message or "Stage B says nothing of any place."


def _map(house: House, plan: Plan, selections: Sequence[Mapping[str, Any]], results: Results) -> dict[str, Any]:
    """The marks that this plan adds to the picture of the house."""
    navigation = results.study.navigation
    legs = iter(legs_of(selections, (house.plan.start.x, house.plan.start.y)))
    stops, approached = [], []
    for number, selection in enumerate(selections, 1):
        label = selection["anchor"]
        stop: dict[str, Any] = {"number": number, "area": anchor_area(house, label), "is_floor": is_floor(label)}
        base = stop["base"] = selection["base"]
        if base:
            path = house.paths[next(legs)]
            stop |= {"base": house.pose(base["x"], base["y"], base["yaw"]), "path": house.sheet.path(path.points)}
            stop |= {"is_free": path.is_free, "length_m": path.length_m}
        if selection["approached"]:
            approached.append(selection["approached"])
        stops.append(stop)
    drawn = [stop for stop in stops if stop["base"]]
    return {
        "width": house.sheet.width,
        "height": house.sheet.height,
        "ground": house.ground,
        "top": house.top,
        "start": house.start,
        "stops": stops,
        "several": len(drawn) > 1,
        "has_free": any(stop["is_free"] for stop in drawn),
        "has_straight": any(not stop["is_free"] for stop in drawn),
        "length_m": sum(stop["length_m"] for stop in drawn) if all(stop["is_free"] for stop in drawn) else None,
        "reach": plan.r_support_m * house.sheet.scale,
        "reach_m": plan.r_support_m,
        "pick": navigation.pick_radius_m * house.sheet.scale,
        "pick_m": navigation.pick_radius_m,
        "right": house.marks(plan.gt_bodies, "right"),
        "approached": house.marks(approached, "approached"),
        "alike": house.marks(others_of_its_kind(house, plan, plan.gt_bodies), f"another {plan.category}"),
    }


def _chart(
    results: Results, plan: Plan, stage_c: Mapping[str, Any], selections: Sequence[Mapping[str, Any]]
) -> tuple[LiftChart | None, str]:
    """The chart of the stored trace, or why there is none."""
    artefact = stage_c.get("trace")
    if not artefact:
        return None, "There is no rollout of this plan, so there is nothing to plot."
    trace = _whole_trace(results, artefact)
    if trace is None:
        return None, f"The trace of its rollout is missing or damaged ({artefact['file']}); running Stage C mends it."
    picked = [number for number, selection in enumerate(selections, 1) if selection["base"] and selection["approached"]]
    places = picked if len(selections) > 1 else ()
    chart = lift_chart(trace, plan.gt_bodies, results.study.judge.lift_m, places)
    return chart, "" if chart else "The policy made no step."


def _whole_trace(results: Results, artefact: Mapping[str, str]) -> Trace | None:
    file = results.study.folder / artefact["file"]
    try:
        return read_trace(file) if file_sha256(file) == artefact["sha256"] else None
    except (OSError, ValueError, zipfile.BadZipFile):
        return None


def _video(results: Results, plan: Plan, line: Line | None) -> tuple[str, str]:
    """The video's file relative to the study's folder, or why there is none."""
    if line is None or "trace" not in line.row:
        return "", "There was no pick." if plan.scoring is Scoring.LIFTED else "The question asks for no pick."
    video = line.row.get("video")
    if not video:
        return "", "The study films nothing ([video] enabled = false)."
    if not (results.study.folder / video["file"]).exists():
        return "", f"The video is missing ({video['file']})."
    return video["file"], ""


def _made(gate: str, line: Line) -> dict[str, Any]:
    finished = datetime.fromtimestamp(line.finished, UTC)
    return {
        "gate": gate,
        "line": line,
        "finished": f"{finished:%Y-%m-%d %H:%M:%S} UTC",
        "versions": ", ".join(f"{name} {version}" for name, version in line.versions.items()),
        "seconds": line.result.timings.get("total_s"),
    }


def _commands(results: Results, plan: Plan, stage_c: Mapping[str, Any]) -> Iterator[str]:
    key, study = shlex.quote(plan.key), shlex.quote(results.study.name)
    yield f"sbench show {key} --study {study}"
    if "final_state" in stage_c:
        yield f"sbench replay {key} --study {study} --video pick.mp4"
    gate = "stage_c" if plan.scoring is Scoring.LIFTED else "stage_b"
    yield f"python -m assets run --study {study} --gate {gate} --plans {key}"


def _rule(plan: Plan) -> str:
    """When the plan counts as a success."""
    done = "lifted" if plan.scoring is Scoring.LIFTED else "reached"
    if len(plan.gt_bodies) == 1:
        return f"it has to be {done}"
    return f"all of them have to be {done}" if plan.steps is Steps.MULTI else f"one of them has to be {done}"
