"""The HTML report: one page for the study, and one per episode. They open from disk and need no network."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import jinja2

from sbench_dag import __version__
from sbench_dag.files import write_whole
from sbench_dag.pipeline import GATES
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.rows import PlanRow, plan_rows
from sbench_dag.reports.versions import SUMMARY_PAGE, episode_page, episode_version, overrides, summary_version
from sbench_dag.rewards.rollouts import rollout_board
from sbench_dag.work.tables import write_table

LEADERBOARD = "leaderboard.json"
"""What `sbench rewards table --json` prints of the study's models; null as long as no rollout has a label."""


def write_summary(results: Results) -> Path:
    """Writes `reports/index.html` and its numbers, `grid.json` and `leaderboard.json`; returns the page."""
    study = results.study
    grid = make_grid(results)
    study.reports.mkdir(parents=True, exist_ok=True)
    write_whole(study.reports / "grid.json", json.dumps(grid, indent=1) + "\n")
    board = rollout_board(results)
    write_whole(study.reports / LEADERBOARD, json.dumps(board and board.as_json(), indent=1) + "\n")
    for gate in (gate.name for gate in GATES):
        write_table(study.tables / f"{gate}.parquet", results.of(gate))
    rows = plan_rows(results)
    page = study.reports / SUMMARY_PAGE
    failures = [row for row in rows if row.video and row.outcome == "failure"]
    html = _template("index.html").render(
        grid=grid,
        board=board,
        videos={row.plan.key: row for row in rows if row.video},
        plans=rows,
        failures=failures,
        episodes=study.manifest.episodes,
        overrides=overrides(study),
        version=__version__,
        about=_about(results),
        stamp=_summary_version(results),
    )
    write_whole(page, html)
    return page


def write_episode(results: Results, episode: str) -> Path:
    """Writes `reports/episodes/<episode>.html`: its checks, its plans and what became of them."""
    page = episode_page(results.study, episode)
    gate = results.of("g0_spike").get(episode)
    rows = [row for row in plan_rows(results) if row.plan.episode == episode]
    by_query: dict[str, list[PlanRow]] = defaultdict(list)
    for row in rows:
        by_query[row.plan.query].append(row)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(
        page,
        _template("episode.html").render(
            episode=episode,
            gate=gate,
            queries=by_query,
            study=results.study,
            stamp=episode_version(results.study, episode, results.look),
        ),
    )
    return page


def _summary_version(results: Results) -> str:
    study = results.study
    versions = [episode_version(study, episode, results.look) for episode in study.manifest.episodes]
    return summary_version(study, versions)


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


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sbench_dag.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.1f}"
    environment.filters["decimals"] = lambda value, digits=3: "–" if value is None else f"{value:.{digits}f}"
    return environment.get_template(name)
