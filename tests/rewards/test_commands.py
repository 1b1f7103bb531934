"""`sbench rewards table`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbench_dag.cli import main
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.outcomes import Outcome
from sbench_dag.pipeline import Fingerprints
from sbench_dag.reports.grid import Results
from sbench_dag.rewards.bench.export import write_predictions
from sbench_dag.rewards.rollouts import rollouts
from sbench_dag.rewards.score import Score, Status
from sbench_dag.study import Study, create_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.rewards.bench_data import IDS, LABELS, write_bench


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return write_bench(tmp_path / "bench", videos=False)


def table(*argv: str) -> int:
    return main(["rewards", "table", "--resamples", "200", *argv])


def test_baselines_stand_alone_where_nobody_has_scored_yet(bench: Path, capsys: pytest.CaptureFixture[str]):
    assert table("--data", str(bench)) == 0
    out, err = capsys.readouterr()
    assert "8 examples in 3 subsets, 5 source episodes" in out and "(always 3)" in out
    assert err.startswith("sbench: 8 of 8 videos are not there, e.g. ") and err.count("\n") == 1 and IDS[0] in err


def test_models_from_several_files(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    right = {name: Score(Status.SCORED, label) for name, label in LABELS.items()}
    write_predictions(tmp_path / "right.csv", {"right": right})
    (tmp_path / "threes.jsonl").write_text("".join(f'{{"id": "{name}", "answer": "ANSWER: 3"}}\n' for name in IDS[1:]))
    files = (str(tmp_path / "right.csv"), f"my threes={tmp_path / 'threes.jsonl'}")
    assert table("--data", str(bench), "--json", "--predictions", *files) == 0
    found = json.loads(capsys.readouterr().out)
    ranked = {row["name"]: row for row in found["rows"] if row["rank"]}
    assert [row["rank"] for row in ranked.values()] == [1, 2] and list(ranked) == ["right", "my threes"]
    assert ranked["right"]["group_wise"]["value"] == 0
    assert ranked["my threes"]["statuses"] == {"scored": 7, "unparseable": 0, "missing": 1}
    assert table("--data", str(bench), "--predictions", *files) == 0
    assert "my threes" in capsys.readouterr().out


def test_rows_that_could_not_be_used_are_said(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "m.csv").write_text(f"id,score\n{IDS[0]},5\n,4\nelse,1\n")
    assert table("--data", str(bench), "--predictions", str(tmp_path / "m.csv")) == 0
    out, err = capsys.readouterr()
    assert "m.csv: line 3.id" in err and "1 answers are about no example, e.g. 'else'" in err
    assert "1/8" in out


def test_two_files_with_a_model_of_the_same_name_need_names(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.csv").write_text(f"id,score\n{IDS[0]},5\n")
    files = (str(tmp_path / "a" / "m.csv"), str(tmp_path / "b" / "m.csv"))
    assert table("--data", str(bench), "--predictions", *files) == 2
    assert "there are scores of 'm' already; give it another name: NAME=" in capsys.readouterr().err
    assert table("--data", str(bench), "--predictions", files[0], f"other={files[1]}") == 0


def test_bad_labels_stop_it_and_are_all_named(bench: Path, capsys: pytest.CaptureFixture[str]):
    file = bench / "test" / "metadata.jsonl"
    file.write_text(file.read_text().replace('"reward": 5', '"reward": "five"'))
    assert table("--data", str(bench)) == 2
    err = capsys.readouterr().err
    assert "line 1.reward = 'five'" in err and "line 4.reward = 'five'" in err


def test_a_missing_revision_is_said(capsys: pytest.CaptureFixture[str]):
    assert table("--data", "teetone/RoboReward") == 2
    assert "teetone/RoboReward@<40 hex digits>" in capsys.readouterr().err


@pytest.fixture
def study(home: Path, dataset: Dataset) -> Study:
    return create_study("by-hand", dataset.root)


def test_a_studys_rollouts_are_a_benchmark(study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    picks = [plan for plan in study.manifest.plans if plan.scoring == "lifted"]
    store, fingerprints = Store(study.results), Fingerprints(study)
    for i, plan in enumerate(picks):
        rows = {"stage_c": {"instances": list(plan.gt_bodies)}, "rollout_rewards": {"label": 1 + i % 5, "video": None}}
        for gate, row in rows.items():
            result = Result(Outcome.SUCCESS, row=row)
            store.segment(gate).append(plan.key, fingerprints.of(gate, plan.key), result)
    examples = rollouts(Results(study)).examples
    assert [e.example.id for e in examples] == sorted(plan.key for plan in picks)
    assert {e.cluster for e in examples} == {plan.episode for plan in picks}
    assert all(e.example.task.startswith("Pick up the ") for e in examples)
    (tmp_path / "m.csv").write_text("id,score\n" + "".join(f"{plan.key},{1 + i % 5}\n" for i, plan in enumerate(picks)))
    assert table("--predictions", str(tmp_path / "m.csv")) == 0
    out = capsys.readouterr().out
    assert f"rollouts of by-hand: {len(picks)} examples" in out
    assert table("--json", "--predictions", str(tmp_path / "m.csv")) == 0
    found = json.loads(capsys.readouterr().out)
    assert {s["name"] for s in found["subsets"]} == {plan.kind.removeprefix("find_") for plan in picks}
    assert next(row for row in found["rows"] if row["name"] == "m")["group_wise"]["value"] == 0


def test_without_rollouts_the_text_says_how_to_get_some(study: Study, capsys: pytest.CaptureFixture[str]):
    assert table() == 2
    assert "no rollout has a label yet; python -m assets run --study by-hand" in capsys.readouterr().err
