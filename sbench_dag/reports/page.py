"""The HTML report: one page for the study, and one per episode. They open from disk and need no network."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from sbench_dag import __version__
from sbench_dag.files import write_whole
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.rows import PlanRow, plan_rows
from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.store import Line
from sbench_dag.work.tables import write_table

_GATES = ("stage_b", "stage_c", "rollout_rewards")


def write_summary(results: Results) -> Path:
    """Writes `reports/index.html` and `reports/grid.json`; returns the page."""
    study = results.study
    grid = make_grid(results)
    study.reports.mkdir(parents=True, exist_ok=True)
    write_whole(study.reports / "grid.json", json.dumps(grid, indent=1) + "\n")
    for gate in ("g0_spike", *_GATES):
        write_table(study.tables / f"{gate}.parquet", results.of(gate))
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
    write_whole(page, html)
    return page


def write_episode(results: Results, episode: str) -> Path:
    """Writes `reports/episodes/<episode>.html`: its checks, its plans and what became of them."""
    page = results.study.reports / "episodes" / f"{episode}.html"
    gate = results.of("g0_spike").get(episode)
    rows = [row for row in plan_rows(results) if row.plan.episode == episode]
    by_query: dict[str, list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_query[row.plan.query].append(row)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(
        page,
        _template("episode.html").render(episode=episode, gate=gate, queries=by_query, study=results.study),
    )
    return page


def episode_version(results: Results, episode: str) -> str:
    """Changes exactly when something that the episode's page shows does."""
    keys = [plan.key for plan in results.study.manifest.plans if plan.episode == episode]
    lines = [_stamp(results.of("g0_spike").get(episode))]
    lines += [_stamp(results.of(gate).get(key)) for key in keys for gate in _GATES]
    return fingerprint("episode page", __version__, lines)


def summary_version(results: Results) -> str:
    """Changes exactly when the grid or the list of overrides does."""
    return fingerprint("summary", __version__, make_grid(results), _decided(results))


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
        loader=jinja2.PackageLoader("sbench_dag.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.1f}"
    return environment.get_template(name)
