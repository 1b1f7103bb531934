"""The grid and single plans as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sbench_dag.cluster.slurm.status import JobsStatus
from sbench_dag.reports.grid import Results
from sbench_dag.work.store import Line


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as they need to be; numbers to the right."""
    cells = [list(header), *[[str(value) for value in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: list[str]) -> str:
        return "  ".join(
            v.rjust(w) if v[:1].isdigit() else v.ljust(w) for v, w in zip(row, widths, strict=True)
        ).rstrip()

    return "\n".join([line(cells[0]), "  ".join("-" * w for w in widths), *(line(row) for row in cells[1:])])


def grid_table(cells: Iterable[Mapping[str, Any]]) -> str:
    """One row per source: counts, then each rate with its interval and its denominator."""
    header = (
        "source",
        "planned",
        "abstained",
        "invalid",
        "not run",
        "SR_B reached",
        "SR_C lifted",
        "P(lifted|reached)",
    )
    rows = []
    for cell in cells:
        counts = [cell[name] for name in ("planned", "abstained", "invalid", "not_run")]
        rates = [rate_text(cell[name]) for name in ("sr_b", "sr_c", "p_lifted_given_reached")]
        rows.append((cell["source"] + (" (synthetic)" if cell["synthetic"] else ""), *counts, *rates))
    return table(header, rows)


def headline_text(grid: Mapping[str, Any]) -> str:
    """Who leads, by how much, how sure that is, where the rest is lost: a line each; "" if no source has a verdict."""
    head = grid["headline"]
    if head is None:
        return ""
    rate, second, floor = head["rate"], head["runner_up"], head["over_floor"]
    verb = {"sr_b": "reaches", "sr_c": "lifts"}[head["metric"]]
    lines = [f"best: {', '.join(head['leaders'])} {verb} {rate_text(rate)}"]
    by = [(second, f"over {second['b']}, the second" if second else ""), (floor, "over the floor, blind")]
    differences = [f"{_points(pair)} {what}" for pair, what in by if pair and pair["difference"] is not None]
    if differences:
        lines.append(f"by {'; '.join(differences)}")
    others = head["readers"] - len(head["leaders"])
    if others:
        alike = head["not_told_apart"]
        lines.append(
            f"told apart from {others - len(alike)} of {others}{'; not from ' if alike else ''}{', '.join(alike)}"
        )
    lost = [f"{count} {stage}" for stage, count in head["lost"].items() if count and stage != "succeeded"]
    lines.append(f"lost: {', '.join(lost) or 'nothing'}")
    return "\n".join(lines)


def _points(pair: Mapping[str, Any]) -> str:
    interval = "" if pair["low"] is None else f" [{100 * pair['low']:+.0f}, {100 * pair['high']:+.0f}]"
    return f"{100 * pair['difference']:+.1f} points{interval}"


def rate_text(rate: Mapping[str, Any]) -> str:
    """`.854 [.72, .93] 41/48`, and the rate of the completed where some are missing."""
    if rate["rate"] is None:
        return "-"
    text = f"{rate['rate']:.3f} [{rate['low']:.2f}, {rate['high']:.2f}] {rate['count']}/{rate['planned']}"
    if rate["completed"] == rate["planned"]:
        return text
    completed = "-" if rate["rate_completed"] is None else f"{rate['rate_completed']:.3f}"
    return f"{text} (completed: {completed} of {rate['completed']})"


def flip_text(flip: Mapping[str, Any]) -> str:
    """Of `count_flips`: a row per verdict, the plans whose verdict is another, and what could not be compared."""
    head = (
        f"{flip['sampled']} of {flip['picks']} picks of {flip['study']} done again "
        f"(seed {flip['seed']}, policy {flip['policy']}); kept in {flip['folder']}"
    )
    rows = [(v["verdict"], v["gate"], v["flips"], v["n"], _flip_rate(v)) for v in flip["verdicts"]]
    parts = [head, "", table(("verdict", "gate", "flips", "of", "rate, Wilson 95 %"), rows)]
    for one in flip["flipped"]:
        parts.append(f"{one['plan']}: {one['verdict']} was {one['first']}, is {one['repeat']}")
    for one in flip["invalid"]:
        what = f"{one['outcome']}.{one['reason']}" if one["reason"] else one["outcome"]
        parts.append(f"{one['plan']}: {one['gate']} is {what} this time, counted as no flip: {one['message']}")
    return "\n".join(parts)


def _flip_rate(verdict: Mapping[str, Any]) -> str:
    if verdict["rate"] is None:
        return "-"
    return f"{100 * verdict['rate']:.1f} % [{100 * verdict['low']:.1f}, {100 * verdict['high']:.1f}]"


def stale_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """One row per gate: how many of its items are in each state, and what has changed where they are stale."""
    states = ("fresh", "stale", "missing", "failed")
    body = []
    for row in rows:
        why = ", ".join(f"{part} ({count})" for part, count in row["why"].items())
        body.append((row["gate"], row["items"], *(row[state] for state in states), why or "-"))
    return table(("gate", "items", *states, "stale because of"), body)


def slurm_table(jobs: JobsStatus) -> str:
    """One row per array task, and what is to be expected of all of them."""
    header = ("task", "gate", "state", "node", "done", "waited", "running", "left")
    rows = [
        (
            shard.id,
            shard.gate,
            f"{shard.state}{f' ({shard.reason})' if shard.reason else ''}",
            shard.node or "-",
            f"{shard.done}/{shard.total}",
            *(_duration(seconds) for seconds in (shard.waited_s, shard.running_s, shard.left_s)),
        )
        for shard in jobs.shards
    ]
    done, total = sum(shard.done for shard in jobs.shards), sum(shard.total for shard in jobs.shards)
    if not rows:
        return "no open jobs"
    left = [shard.left_s for shard in jobs.shards if shard.left_s is not None]
    end = (
        f"; what runs should be done by {datetime.now() + timedelta(seconds=max(left)):%Y-%m-%d %H:%M}" if left else ""
    )
    return f"{table(header, rows)}\n{done} of {total} items done in {len(rows)} array tasks{end}"


def _duration(seconds: float | None) -> str:
    return "-" if seconds is None else str(timedelta(seconds=round(seconds)))


def plan_text(results: Results, key: str) -> str:
    """All that is known about one plan."""
    plan = results.study.manifest.by_key[key]
    places = "; ".join(f"{s.category}: {s.surface}, {s.room or 'any room'}" for s in plan.selections)
    parts = [
        plan.key,
        f"  question   {plan.text} ({plan.kind}, {plan.steps}, {plan.scoring})",
        f"  answer     {places}",
        f"  right      {', '.join(plan.gt_bodies)}",
        f"  given by   {', '.join(plan.sources)}",
    ]
    for gate in ("stage_b", "stage_c", "rollout_rewards"):
        line = results.of(gate).get(key)
        parts.append(f"  {gate:<15}  {_line_text(line) if line else 'no result'}")
    row = next((line.row for gate in ("stage_b",) if (line := results.of(gate).get(key))), {})
    for selection in row.get("selections", ()):
        parts.append(f"    {_selection_text(selection)}")
    verdict = results.of("stage_c").get(key)
    if verdict and "video" in verdict.row:
        parts += [f"    {_body_text(body)}" for body in verdict.row["bodies"]]
        if verdict.row["video"]:
            parts.append(f"    video: {results.study.folder / verdict.row['video']['file']}")
    return "\n".join(parts)


def _line_text(line: Line) -> str:
    reason = f" ({line.result.reason})" if line.result.reason else ""
    message = f": {line.result.message}" if line.result.message else ""
    label = f", label {line.row['label']}" if "label" in line.row else ""
    return f"{line.outcome}{reason}{message}{label}"


def _selection_text(selection: Mapping[str, Any]) -> str:
    if selection["base"] is None:
        return f"{selection['selection']['surface']}: {selection['message']}"
    base = selection["base"]
    distances = ", ".join(f"{d['body']} {d['horizontal_m']:.2f} m" for d in selection["distances"])
    went = selection["approached"] or "no instance perceived"
    return f"{selection['anchor']}: {went}; base at ({base['x']:.2f}, {base['y']:.2f}); {distances}"


def _body_text(body: Mapping[str, Any]) -> str:
    return f"{body['body']}: rose {100 * body['highest_lift_m']:.1f} cm, held {body['longest_hold_s']:.2f} s"
