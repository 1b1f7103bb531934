"""A study's benchmark: one item per model, scored where gates run, and kept with the identity that it was scored by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.rewards.bench.gate import REWARD_BENCH, source_of
from sbench_dag.stale import Scanner
from sbench_dag.study import Study, create_study, load_study
from sbench_dag.work.store import Line
from tests.by_hand import write_dataset
from tests.rewards.bench_data import IDS, LABELS, rows, write_bench
from tests.rewards.test_panel import asked, set_tables
from tests.running import run_here

NAME = REWARD_BENCH.name


@pytest.fixture
def study(home: Path) -> Study:
    """Two models and a benchmark of eight videos."""
    write_dataset(home / "datasets" / "by-hand")
    settings = {"rewards": {"models": ["first", "second"], "bench": "../../bench"}}
    set_tables(home, first={}, second={})
    write_bench(home / "bench")
    return create_study("by-hand", home / "datasets" / "by-hand", settings)


def wanted(study: Study) -> dict[str, str]:
    return Fingerprints(load_study(study.folder)).wanted(REWARD_BENCH)


def score(study: Study) -> dict[str, Line]:
    return {line.key: line for line in run_here(load_study(study.folder), NAME)[NAME]}


def test_each_model_gets_its_row_beside_the_baselines_and_a_file_of_its_own(study: Study):
    lines = score(study)
    assert set(lines) == {"first", "second"}
    row = lines["first"].row
    assert (row["n"], row["clusters"], row["missing"], row["unparseable"]) == (8, 5, 0, 0)
    [mine] = [found for found in row["rows"] if found["is_model"]]
    by_subset = {}
    for name, label in LABELS.items():
        by_subset.setdefault(name.split("/")[0], []).append(abs(4 - label))
    assert mine["mae"] == pytest.approx(sum(sum(errors) / len(errors) for errors in by_subset.values()) / 3)
    assert "always 3" in [found["name"] for found in row["rows"]]
    file = study.folder / row["file"]
    assert file == study.folder / "rewards" / "bench" / f"first-{row['identity']}.jsonl"
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == list(IDS)


def test_a_model_without_some_scores_is_invalid_says_why_and_asks_only_for_these_again(study: Study, home: Path):
    set_tables(home, first={"silent": IDS[:1]}, second={})
    lines = score(study)
    assert lines["second"].outcome is Outcome.SUCCESS
    result = lines["first"].result
    assert (result.outcome, result.reason) == (Outcome.INVALID, Reason.NO_SCORE)
    assert "first gave no score of 3 of 8 videos (3 x no video); " in result.message, "three names begin so"
    file = study.folder / result.row["file"]
    assert file.name in result.message and file.read_text().count('"scored"') == 5
    before = len(asked(home, "first"))
    score(study)
    assert len(asked(home, "first")) == before + 3


def test_a_model_that_can_not_be_had_is_invalid_and_leaves_the_other_alone(study: Study, home: Path):
    set_tables(home, second={})
    lines = score(study)
    assert lines["second"].outcome is Outcome.SUCCESS
    assert (lines["first"].outcome, lines["first"].result.reason) == (Outcome.INVALID, Reason.NO_SCORE)
    assert "first can't be had: " in lines["first"].result.message


def test_a_result_holds_until_its_model_or_the_benchmark_changes(study: Study, home: Path):
    first = wanted(study)
    set_tables(home, first={"taste": "sharp"}, second={})
    changed = wanted(study)
    assert changed["first"] != first["first"] and changed["second"] == first["second"]
    write_bench(home / "bench", rows()[:-1])
    less = wanted(study)
    assert less["first"] != changed["first"] and less["second"] != changed["second"]
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "[judge]\nhold_s = 60.0\n")
    assert wanted(study) == less, "of the verdict on rollouts it knows nothing"


def test_one_model_that_has_changed_scores_alone(study: Study, home: Path):
    score(study)
    set_tables(home, first={}, second={"taste": "sharp"})
    assert set(score(study)) == {"second"}
    assert (len(asked(home, "first")), len(asked(home, "second"))) == (8, 16)


def test_a_benchmark_that_changes_meanwhile_gives_no_result(study: Study, home: Path, monkeypatch: pytest.MonkeyPatch):
    def edits(file: Path, name: str, model: object, examples: list, **_: object):
        write_bench(home / "bench", rows()[:-1], videos=False)
        return scored(file, name, model, examples)

    from sbench_dag.rewards.bench import scoring

    scored = scoring.score_into
    monkeypatch.setattr(scoring, "score_into", edits)
    assert {line.result.reason for line in score(study).values()} == {Reason.INPUT_CHANGED}


def test_the_benchmark_is_a_folder_beside_the_study_or_a_commit_on_the_hub(study: Study):
    assert Path(source_of(study)) == study.folder / "../../bench"
    commit = f"teetone/RoboReward@{'a' * 40}"
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace("../../bench", commit))
    assert source_of(load_study(study.folder)) == commit
    assert wanted(study), "nothing is downloaded to know what is wanted"
    file.write_text(file.read_text().replace(commit, "nothing"))
    with pytest.raises(SetupError, match="no benchmark there"):
        wanted(study)


def test_the_stale_scan_leaves_it_alone(study: Study):
    scan = Scanner(study.folder).scan()
    score(study)
    assert NAME not in scan.steps
    assert Scanner(study.folder).scan().steps == scan.steps


def test_without_a_benchmark_there_is_nothing_to_score(study: Study):
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace("../../bench", ""))
    assert wanted(study) == {}
