"""The HTML report: one page for the study, and one per episode. They open from disk and need no network."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from sbench_dag import __version__
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.store import Line

_GATES = ("stage_b", "stage_c", "rollout_rewards")


@dataclass(frozen=True)
class PlanRow:
    """A plan with what is known of it, as the pages show it."""

    plan: Plan
    places: str
    outcome: str
    reason: str
    message: str
    label: int | None
    video: str | None


def write_summary(results: Results) -> Path:
    """Writes `reports/index.html` and `reports/grid.json`; returns the page."""
    study = results.study
    grid = make_grid(results)
    study.reports.mkdir(parents=True, exist_ok=True)
    _write(study.reports / "grid.json", json.dumps(grid, indent=1) + "\n")
    rows = plan_rows(results)
    page = study.reports / "index.html"
    failures = [row for row in rows if row.video and row.outcome == "failure"]
    html = _template("index.html").render(
        grid=grid,
        plans=rows,
        failures=failures,
        episodes=study.manifest.episodes,
        decided=_decided(results),
        version=__version__,
        about=_about(results),
    )
    _write(page, html)
    return page


def write_episode(results: Results, episode: str) -> Path:
    """Writes `reports/episodes/<episode>.html`: its checks, its plans and what became of them."""
    page = results.study.reports / "episodes" / f"{episode}.html"
    gate = results.of("g0_spike").get(episode)
    rows = [row for row in plan_rows(results, up=2) if row.plan.episode == episode]
    by_query: dict[str, list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_query[row.plan.query].append(row)
    page.parent.mkdir(parents=True, exist_ok=True)
    _write(page, _template("episode.html").render(episode=episode, gate=gate, queries=by_query, study=results.study))
    return page


def episode_version(results: Results, episode: str) -> str:
    """Changes exactly when something that the episode's page shows does."""
    keys = [plan.key for plan in results.study.manifest.plans if plan.episode == episode]
    lines = [_stamp(results.of("g0_spike").get(episode))]
    lines += [_stamp(results.of(gate).get(key)) for key in keys for gate in _GATES]
    return fingerprint("episode page", __version__, lines)


def summary_version(results: Results) -> str:
    """Changes exactly when the grid does."""
    return fingerprint("summary", __version__, make_grid(results))


def plan_rows(results: Results, up: int = 1) -> list[PlanRow]:
    """All plans with their results. up: how many folders the page lies below the study's."""
    return [_plan_row(results, plan, "../" * up) for plan in results.study.manifest.plans]


def _plan_row(results: Results, plan: Plan, prefix: str) -> PlanRow:
    lines = [line for gate in ("stage_b", "stage_c") if (line := results.of(gate).get(plan.key))]
    # what stage C calls not applicable is what stage B said already
    last = next((line for line in reversed(lines) if line.outcome != "not_applicable"), None)
    reward = results.of("rollout_rewards").get(plan.key)
    video = next((line.row["video"]["file"] for line in lines if line.row.get("video")), None)
    return PlanRow(
        plan=plan,
        places="; ".join(f"{s.surface}, {s.room or 'any room'}" for s in plan.selections),
        outcome=str(last.outcome) if last else "not_run",
        reason=str(last.result.reason or "") if last else "",
        message=last.result.message if last else "",
        label=reward.row.get("label") if reward else None,
        video=prefix + video if video else None,
    )


def _decided(results: Results) -> dict[str, Any]:
    """The overrides of the stopping gates, as they were recorded."""
    file = results.study.folder / "overrides.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return {"overrides": [json.loads(line) for line in lines]}


def _about(results: Results) -> dict[str, str]:
    study = results.study
    versions = next((line.versions for line in results.of("stage_b").values()), {})
    return {
        "study": study.name,
        "profile": study.dataset.info.profile,
        "data set revision": study.revision,
        "scene source": study.scene_source,
        "policy": study.policy.name,
        **{f"{package} version": version for package, version in versions.items()},
    }


def _stamp(line: Line | None) -> list[str] | None:
    return None if line is None else [line.fingerprint, line.outcome, str(line.result.reason), line.result.message]


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sbench_dag.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.1f}"
    return environment.get_template(name)


def _write(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.replace(file)
