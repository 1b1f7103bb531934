"""What people read, as assets: a page per episode, and the summary with the grid."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets.code_version import code_version
from assets.episodes import episodes_input
from assets.events import Done, Undone, complete_check, materialize, plain_errors, requested_partitions
from assets.grouping import gone
from assets.provenance import Input
from assets.scope import Scope, own_policy
from assets.show import interval, table
from assets.tags import begin
from sbench_dag.gate import Keys
from sbench_dag.pipeline import GATES
from sbench_dag.reports.episode_page import write_episode
from sbench_dag.reports.grid import Results
from sbench_dag.reports.links import episode_page
from sbench_dag.reports.page import GRID, LEADERBOARD, write_summary
from sbench_dag.reports.text import headline_text
from sbench_dag.reports.versions import episode_version, written_version
from sbench_dag.stale import REPORT, SUMMARY

_SUMMARY_VERSION = "1"
_SUMMARY = (
    "The grid of success rates by strategy and model, as a page that opens from disk. Dagster's own stale mark looks "
    "at no more than 99 episodes; `sbench stale` and the sensor `stale_plans` look at all."
)
_COUNTS = {"planned": "planned", "abstained": "abstained", "invalid": "invalid", "not_run": "not run"}


def report(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(REPORT)
    inputs = [Input(scope.key(gate.name), scope.partitions.upstream(gate.keys, Keys.EPISODE)) for gate in GATES]

    @dg.asset(
        key=key,
        group_name=scope.group_of(REPORT),
        description="A page per episode: its checks, its questions, the answers to them, and what became of each.",
        partitions_def=scope.partitions.definitions[Keys.EPISODE],
        backfill_policy=own_policy(REPORT),
        code_version=code_version(scope.fingerprints, REPORT),
        deps=[scope.episodes_dep(Keys.EPISODE), *(scope.dep(gate, Keys.EPISODE) for gate in GATES)],
        metadata=scope.about,
        output_required=False,
        check_specs=[complete_check(key)],
    )
    def asset(context: dg.AssetExecutionContext):
        with plain_errors():
            results, names = Results(begin(context, scope)), requested_partitions(context)
            there = [name for name in names if name in results.study.manifest.by_episode]
            made_of = [episodes_input(scope, Keys.EPISODE, there, results.fingerprints.content), *inputs]
            version = code_version(results.fingerprints, REPORT)
            yield from materialize(context, version, made_of, _pages(results, names))

    return asset


def summary(scope: Scope) -> dg.AssetsDefinition:
    age = scope.report_max_age

    @dg.asset(
        key=scope.key(SUMMARY),
        group_name=scope.group_of(SUMMARY),
        description=_SUMMARY,
        code_version=_SUMMARY_VERSION,
        deps=[scope.key(REPORT)],
        metadata=scope.about,
        freshness_policy=age and dg.FreshnessPolicy.time_window(fail_window=age),
    )
    def asset(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        with plain_errors():
            results = Results(begin(context, scope))
            page = write_summary(results)
            grid, board = (json.loads(page.with_name(name).read_text()) for name in (GRID, LEADERBOARD))
            shown = {**_picture(grid), **_headline(grid), **_reward_models(board)}
            return dg.MaterializeResult(
                metadata={"page": dg.MetadataValue.path(str(page)), **shown},
                data_version=dg.DataVersion(written_version(page) or ""),
            )

    return asset


def _pages(results: Results, episodes: Sequence[str]) -> Iterator[Done | Undone]:
    study, lines = results.study, results.of("stage_b")
    for episode in episodes:
        if episode not in study.manifest.by_episode:
            yield gone(episode)
            continue
        page, version = episode_page(study, episode), episode_version(study, episode, results.look)
        cached = written_version(page) == version
        if not cached:
            write_episode(results, episode)
        plans = [entry.key for entry in study.manifest.by_episode[episode]]
        done = sum(key in lines and lines[key].outcome.is_result for key in plans)
        metadata = {"page": dg.MetadataValue.path(str(page)), "cached": cached, "plans": len(plans), "done": done}
        yield Done(episode, version, metadata)


def _picture(grid: dict[str, Any]) -> dict[str, Any]:
    """What the page's first screen says, and its figure of the rates; nothing as long as no source has a verdict."""
    from sbench_dag.reports.charts import ON_WHITE, forest, png  # half a second, of every process that loads the assets

    if grid["headline"] is None:
        return {}
    drawn = base64.b64encode(png(forest(grid["cells"], ON_WHITE))).decode()
    said = headline_text(grid).replace("\n", "  \n")
    return {"headline": dg.MetadataValue.md(f"{said}\n\n![rates with intervals](data:image/png;base64,{drawn})")}


def _headline(grid: dict[str, Any]) -> dict[str, Any]:
    cells = grid["cells"]
    shown = {"oracle-loc": "oracle", "blind": "blind"}
    rates = {
        f"{shown[cell['source']]} {what}": cell[name]["rate"] and round(cell[name]["rate"], 4)
        for cell in cells
        if cell["source"] in shown
        for what, name in (("reached", "sr_b"), ("lifted", "sr_c"))
    }
    return {
        "grid": table([_row(cell) for cell in cells]),
        **rates,
        **{_COUNTS[what]: sum(cell[what] for cell in cells) for what in _COUNTS},
        "problems with the input": len(grid["problems"]),
    }


def _reward_models(board: dict[str, Any] | None) -> dict[str, Any]:
    """The leaderboard of the study's models, baselines among them; nothing as long as no rollout has a label."""
    if board is None:
        return {}
    rows = [
        {
            "model": row["name"] if row["rank"] else f"({row['name']})",
            "MAE": round(row["group_wise"]["value"], 4),
            "95 %": interval(row["group_wise"]["interval"]),
            "answered": f"{row['answered']['n']}/{board['n']}" if row["answered"] else "",
        }
        for row in board["rows"]
    ]
    return {"reward models": table(rows)}


def _row(cell: dict[str, Any]) -> dict[str, str | int]:
    rates = {"SR_B": "sr_b", "SR_C": "sr_c", "P(lifted|reached)": "p_lifted_given_reached"}
    return {
        "source": cell["source"] + (" (synthetic)" if cell["synthetic"] else ""),
        **{_COUNTS[what]: cell[what] for what in _COUNTS},
        **{title: _short(cell[name]) for title, name in rates.items()},
    }


def _short(rate: dict[str, Any]) -> str:
    """Without its interval, which the page shows: the UI's columns are narrow."""
    return "-" if rate["rate"] is None else f"{rate['rate']:.3f} ({rate['count']}/{rate['planned']})"
