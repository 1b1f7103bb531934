"""The report as assets."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.text import headline_text
from sbench_dag.work.item import Result
from tests.assets.support import Bench, failing, metadata
from tests.assets.test_gate import touch


def summary_of(bench: Bench) -> Mapping[str, Any]:
    event = bench.instance.get_latest_materialization_event(bench.scope.key("summary"))
    assert event is not None and event.asset_materialization is not None
    shown = event.asset_materialization.metadata
    return {
        name: value.records if isinstance(value, dg.TableMetadataValue) else value.value
        for name, value in shown.items()
    }


def test_every_episode_has_a_page_and_the_summary_shows_the_grid(bench: Bench):
    bench.run_all()
    pages = {episode: metadata(event)["page"] for episode, event in bench.events("report").items()}
    assert set(pages) == {"val_0001__0", "val_0002__0"}
    assert all("<html" in Path(str(page)).read_text() for page in pages.values())
    shown = summary_of(bench)
    grid = make_grid(Results(bench.study))
    assert [record.data["source"] for record in shown["grid"]] == [cell["source"] for cell in grid["cells"]]
    assert shown["oracle reached"] == 1.0
    assert shown["headline"].startswith(headline_text(grid).splitlines()[0])
    picture = base64.b64decode(shown["headline"].partition("base64,")[2].rstrip(")"))
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 100_000, "it stands in every event of the summary"
    assert json.loads((bench.study.reports / "grid.json").read_text()) == grid


def test_the_summary_shows_reward_models_among_baselines(bench: Bench):
    bench.run_all()
    assert "reward models" not in summary_of(bench), "no rollout has a label"
    file = bench.study.folder / "study.toml"
    file.write_text(file.read_text() + '[rewards]\nmodels = ["constant-4"]\n')
    bench.reload()
    rows = {
        "stage_b": {"reached": True},
        "stage_c": {"instances": []},
        "rollout_rewards": {"label": 5, "video": None, "scores": {"constant-4": {"status": "scored", "value": 4}}},
    }
    for results in bench.study.results.glob("*/*.jsonl"):
        results.unlink()
    bench.cluster.judge = lambda gate, key: Result(Outcome.SUCCESS, row=rows.get(gate, {}))
    bench.run_all()
    shown = {record.data["model"]: record.data for record in summary_of(bench)["reward models"]}
    picks = len(bench.partitions("stage_c"))
    assert shown["constant-4"]["MAE"] == shown["(always 4)"]["MAE"] == 1.0 and shown["(always 5)"]["MAE"] == 0.0
    assert shown["constant-4"]["answered"] == f"{picks}/{picks}" and shown["(always 4)"]["answered"] == ""
    board = json.loads((bench.study.reports / "leaderboard.json").read_text())
    assert [row["name"] for row in board["rows"] if row["rank"]] == ["constant-4"]


def test_only_pages_whose_content_changed_are_written_again(bench: Bench):
    bench.run_all()
    touch(bench, "val_0001__0")
    for name in ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report"):
        bench.must(name)
    cached = {episode: metadata(event)["cached"] for episode, event in bench.events("report").items()}
    assert cached == {"val_0001__0": False, "val_0002__0": True}


def test_a_page_that_was_deleted_is_written_again(bench: Bench):
    bench.run_all()
    page = bench.study.reports / "episodes" / "val_0001__0.html"
    page.unlink()
    bench.must("report")
    assert page.exists()


def test_the_summary_counts_what_is_invalid(bench: Bench):
    bench.must("g0_spike")
    bad = [key for key in bench.partitions("stage_b") if ".q01." in key]
    bench.cluster.judge = failing(*bad, gate="stage_b", why=Result(Outcome.INVALID, Reason.TIMED_OUT, "slow"))
    bench.run("stage_b")
    bench.must("summary", keys=[])
    assert summary_of(bench)["invalid"] == sum(cell["invalid"] for cell in make_grid(Results(bench.study))["cells"]) > 0


def test_a_study_in_which_nothing_has_run_has_a_summary(bench: Bench):
    bench.must("report")
    bench.must("summary", keys=[])
    assert summary_of(bench)["not run"] == summary_of(bench)["planned"] - summary_of(bench)["abstained"]
