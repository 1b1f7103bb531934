"""The report's main page. It opens from disk and needs no network."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from sbench_dag import __version__
from sbench_dag.commit import code_commit
from sbench_dag.files import write_whole
from sbench_dag.flips.latest import latest_flip
from sbench_dag.pipeline import GATES
from sbench_dag.reports.drill import drill_data
from sbench_dag.reports.failures import failures
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.html import make_environment
from sbench_dag.reports.links import cells_href, episode_href, plan_href
from sbench_dag.reports.matrix import ANCHORS
from sbench_dag.reports.pairs import METRICS, pair_matrix
from sbench_dag.reports.rows import plan_rows
from sbench_dag.reports.versions import SUMMARY_PAGE, episode_version, overrides, summary_version
from sbench_dag.rewards.leaderboard import Leaderboard
from sbench_dag.rewards.rollouts import rollout_board
from sbench_dag.stats.clustered import MIN_CLUSTERS, MIN_VARIED
from sbench_dag.work.tables import write_table

GRID = "grid.json"
"""What `sbench grid --json` prints."""
LEADERBOARD = "leaderboard.json"
"""What `sbench rewards table --json` prints of the study's models; null as long as no rollout has a label."""


def write_summary(results: Results) -> Path:
    """Writes `reports/index.html` and its numbers, `grid.json` and `leaderboard.json`; returns the page."""
    study = results.study
    grid = make_grid(results)
    study.reports.mkdir(parents=True, exist_ok=True)
    write_whole(study.reports / GRID, json.dumps(grid, indent=1) + "\n")
    board = rollout_board(results)
    write_whole(study.reports / LEADERBOARD, json.dumps(board and board.as_json(), indent=1) + "\n")
    for gate in (gate.name for gate in GATES):
        write_table(study.tables / f"{gate}.parquet", results.of(gate))
    page = study.reports / SUMMARY_PAGE
    write_whole(page, _template("index.html").render(**_shown(results, grid, board), stamp=_summary_version(results)))
    return page


def _shown(results: Results, grid: dict[str, Any], board: Leaderboard | None) -> dict[str, Any]:
    """What the summary's templates know."""
    from sbench_dag.reports.charts import figures  # half a second, which code locations must not wait for

    study, rows = results.study, plan_rows(results)
    matrix = results.matrix
    cells, head = grid["cells"], grid["headline"]
    by_place = {(c["strategy"], c["model"]): c for c in cells if c["strategy"] is not None}
    labels = sorted(
        {label for cell in cells for label in cell["outcomes"]}, key=lambda label: (label != "success", label)
    )
    return {
        "grid": grid,
        "head": head,
        "figures": figures(grid) if head else {},
        "by_place": by_place,
        "strategies": sorted({strategy for strategy, _ in by_place}),
        "models": sorted({model for _, model in by_place}),
        "methods": sorted(
            {rate["method"] for cell in cells for rate in (cell["sr_b"], cell["sr_c"]) if rate["method"]}
        ),
        "min_clusters": MIN_CLUSTERS,
        "min_varied": MIN_VARIED,
        "labels": labels,
        "failures": failures(matrix, rows),
        "matrices": {metric: pair_matrix(grid["pairs"], metric) for metric in METRICS},
        "anchors": ANCHORS,
        "board": board,
        "videos": {row.plan.key: row for row in rows if row.video},
        "episodes": study.manifest.episodes,
        "overrides": overrides(study),
        "flip": latest_flip(study),
        "about": _about(results),
        "drill": drill_data(matrix, rows),
    }


def _summary_version(results: Results) -> str:
    study = results.study
    versions = [episode_version(study, episode, results.look) for episode in study.manifest.episodes]
    return summary_version(study, versions)


def _about(results: Results) -> dict[str, str]:
    study = results.study
    gates = [gate for gate in GATES if results.of(gate.name)]
    versions = next((line.versions for gate in gates for line in results.of(gate.name).values()), {})
    return {
        "sbench-dag": f"{__version__}, commit {code_commit() or 'unknown'}",
        "study": study.name,
        "profile": study.dataset.info.profile,
        "data set revision": study.revision,
        "scene source": study.scene_source,
        "policy": study.policy.name,
        **{f"{package} version": version for package, version in versions.items()},
        **{f"fingerprint of {gate.name}": results.fingerprints.common(gate.name) for gate in gates},
    }


def _points(difference: float | None, digits: int = 1) -> str:
    """With a sign: `+3.1`, `−0.4`, `0.0`."""
    if difference is None:
        return "–"
    size = f"{abs(100 * difference):.{digits}f}"
    sign = "" if float(size) == 0 else "+" if difference > 0 else "−"
    return sign + size


@cache
def _template(name: str) -> jinja2.Template:
    environment = make_environment()
    environment.filters["points"] = _points
    environment.filters["cells_href"] = lambda filters: cells_href(**filters)
    environment.filters["plan_href"] = lambda row: plan_href(row.plan.episode, row.plan.key)
    environment.filters["episode_href"] = episode_href
    return environment.get_template(name)
