"""`sbench` says what it knows, and what to do when it doesn't."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbench_dag.cli import main
from sbench_dag.study import Study
from tests.blocks import blocks_study, write_scene
from tests.running import run_here


@pytest.fixture
def study(home: Path) -> Study:
    study = blocks_study(home, 2)
    run_here(study)
    return study


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 0
    return capsys.readouterr().out


def test_a_scene_becomes_a_data_set_and_a_study(home: Path, capsys: pytest.CaptureFixture[str]):
    xml = write_scene(home / "scenes", 1)
    run(capsys, "dataset", "from-scene", str(xml), "--name", "one")
    out = run(capsys, "study", "create", "--dataset", str(home / "datasets" / "one"), "--name", "one")
    assert "1 episodes, 1 queries, 1 unique plans, 0 problems" in out
    assert "one: revision one-" in run(capsys, "study", "list")


def test_the_grid_as_text_and_as_json(study: Study, capsys: pytest.CaptureFixture[str]):
    assert "oracle-loc" in run(capsys, "grid")
    grid = json.loads(run(capsys, "grid", "--json"))
    assert (grid["profile"], grid["revision"]) == ("blocks", study.revision)
    oracle = next(c for c in grid["cells"] if c["source"] == "oracle-loc")
    assert oracle["picks"] == {"planned": 2, "reached": 2, "lifted": 2, "lifted_held": 2}
    assert "scoring: lifted" in run(capsys, "grid", "--by", "scoring")


def test_plans_can_be_listed_by_pattern_and_outcome(study: Study, capsys: pytest.CaptureFixture[str]):
    assert "2 plans" in run(capsys, "plans")
    assert "1 plans" in run(capsys, "plans", "*q01*")
    assert "0 plans" in run(capsys, "plans", "--outcome", "failure")
    rows = json.loads(run(capsys, "plans", "--json", "--outcome", "success"))
    assert [row["label"] for row in rows] == [5, 5]


def test_one_plan_is_shown_with_all_that_is_known(study: Study, capsys: pytest.CaptureFixture[str]):
    out = run(capsys, "show", "blocks__0.q00")
    assert "Pick up the block 0" in out
    assert "block_0: rose" in out
    lines = json.loads(run(capsys, "show", "blocks__0.q00", "--json"))
    assert set(lines) == {"stage_b", "stage_c", "rollout", "rollout_rewards"}


def test_a_replay_gives_identical_states_and_a_larger_video(study: Study, tmp_path: Path, capsys):
    out = run(capsys, "replay", "blocks__0.q00", "--video", str(tmp_path / "v.mp4"), "--size", "320", "240")
    assert "identical states" in out
    assert (tmp_path / "v.mp4").stat().st_size > 1000


def test_the_report_is_written(study: Study, capsys: pytest.CaptureFixture[str]):
    assert Path(run(capsys, "report").strip()).read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("grid", "--study", "nosuch"), "no study 'nosuch'"),
        (("show", "val_9"), "no plan begins with it"),
        (("show", "blocks"), "2 plans begin with it"),
        (("study", "create", "--dataset", "nowhere", "--name", "x"), "no data set here"),
        (("dataset", "from-scene", "nowhere.xml", "--name", "x"), "does not exist"),
    ],
)
def test_what_is_wrong_is_one_line_on_stderr(study: Study, argv: tuple[str, ...], says: str, capsys):
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error


def test_without_a_study_it_says_how_to_get_one(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(("grid",)) == 2
    assert "make demo" in capsys.readouterr().err
