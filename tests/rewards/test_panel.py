"""A study's reward models score its rollouts once each, whatever else changes; none stops the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import Score, Status
from sbench_dag.study import Study, load_study
from sbench_dag.work.store import Line, Store
from sbench_dag.worker import Worker
from tests.blocks import blocks_study
from tests.running import run_here, tasks_of


class Noting:
    """Scores 4, and notes in a file which examples it was asked about at a time. No answer for those in `silent`."""

    def __init__(self, file: str, silent: Sequence[str] = (), breaks: str = "never", taste: str = "plain"):
        self._file, self._silent, self._breaks, self._taste = Path(file), silent, breaks, taste

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": "noting", "taste": self._taste}

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        if examples:
            with self._file.open("a") as file:
                file.write(" ".join(example.id for example in examples) + "\n")
        for example in examples:
            if self._breaks in example.id:
                raise RuntimeError("out of memory")
            if any(name in example.id for name in self._silent):
                yield Score(Status.MISSING, why="no video")
            else:
                yield Score(Status.SCORED, 4, answer="ANSWER: 4", protocol={"asked": example.task})


@pytest.fixture
def study(home: Path) -> Study:
    """Two rollouts with videos, not scored yet."""
    study = blocks_study(home, 2, settings={"video": {"enabled": True, "width": 64, "height": 64}})
    set_models(study, ["first"])
    set_tables(home, first={})
    run_here(load_study(study.folder), "g0_spike", "stage_b", "stage_c")
    return load_study(study.folder)


def set_models(study: Study, names: list[str]) -> None:
    file = study.folder / "study.toml"
    kept = file.read_text().partition("[rewards]")[0]
    file.write_text(f"{kept}[rewards]\nmodels = {names}\n")


def set_tables(home: Path, **options: Mapping[str, Any]) -> None:
    """Models of the given names."""
    head = 'kind = "python"\nmodel = "tests.rewards.test_panel:Noting"\n'
    texts = [
        f"[{name}]\n{head}options = {_inline({'file': str(home / f'{name}.log'), **options[name]})}\n"
        for name in options
    ]
    (home / "reward_models.toml").write_text("\n".join(texts))


def _inline(table: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"


def asked(home: Path, name: str) -> list[str]:
    file = home / f"{name}.log"
    return file.read_text().split() if file.exists() else []


def score(study: Study) -> dict[str, Line]:
    """Runs the gate as it has to be today."""
    study = load_study(study.folder)
    run_here(study, "rollout_rewards")
    wanted = Fingerprints(study).wanted(find_gate("rollout_rewards"))
    return Store(study.results).results("rollout_rewards", wanted)


def test_a_rollout_gets_a_score_from_each_model_and_its_protocol_is_stored(home: Path, study: Study):
    lines = score(study)
    assert len(lines) == 2
    for line in lines.values():
        assert line.row["label"] == 5
        assert line.row["scores"]["first"]["value"] == 4 and line.row["scores"]["first"]["status"] == "scored"
    stored = list(Store(study.results).lines("scores"))
    assert {line.row["protocol"]["asked"] for line in stored} == {"Pick up the block 0", "Pick up the block 1"}


def test_a_model_that_is_added_scores_only_itself_and_nothing_is_simulated(home: Path, study: Study):
    score(study)
    set_models(study, ["first", "second"])
    set_tables(home, first={}, second={})
    before = {gate: len(list(Store(study.results).lines(gate))) for gate in ("rollout", "stage_c")}
    lines = score(study)
    assert {tuple(line.row["scores"]) for line in lines.values()} == {("first", "second")}
    assert len(asked(home, "first")) == len(asked(home, "second")) == 2
    assert {gate: len(list(Store(study.results).lines(gate))) for gate in before} == before


def test_a_model_that_has_changed_scores_again(home: Path, study: Study):
    score(study)
    set_tables(home, first={"taste": "sharp"})
    score(study)
    assert len(asked(home, "first")) == 4


def test_a_judges_threshold_changes_labels_and_scores_stay(home: Path, study: Study):
    score(study)
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "[judge]\nhold_s = 60.0\n")
    run_here(load_study(study.folder), "stage_c")
    lines = score(study)
    assert {line.row["label"] for line in lines.values()} == {4} and len(asked(home, "first")) == 2


def test_no_answer_is_invalid_with_its_label_and_is_asked_for_again_alone(home: Path, study: Study):
    set_tables(home, first={"silent": ["q01"]})
    lines = {line.outcome: line for line in score(study).values()}
    assert set(lines) == {Outcome.SUCCESS, Outcome.INVALID}
    bad = lines[Outcome.INVALID]
    assert bad.result.reason is Reason.NO_SCORE and bad.result.message == "first gave no score: no video"
    assert bad.row["label"] == 5 and bad.row["scores"]["first"]["status"] == "missing"
    set_tables(home, first={})
    assert {line.outcome for line in score(study).values()} == {Outcome.SUCCESS}
    assert len(asked(home, "first")) == 3


@pytest.mark.parametrize("broken", ["breaks", "unknown"])
def test_a_model_that_breaks_or_is_not_there_does_not_keep_the_others_from_scoring(
    home: Path, study: Study, broken: str
):
    set_models(study, ["first", "second"])
    set_tables(home, second={}, **({"first": {"breaks": ""}} if broken == "breaks" else {}))
    lines = score(study)
    assert {line.outcome for line in lines.values()} == {Outcome.INVALID}
    for line in lines.values():
        assert line.row["scores"]["second"]["value"] == 4
        assert ("RuntimeError: out of memory" if broken == "breaks" else "no such reward model") in line.result.message


def test_what_a_model_scored_before_it_broke_counts(home: Path, study: Study):
    set_tables(home, first={"breaks": "q01"})
    worker = Worker(load_study(study.folder).folder, "rollout_rewards")
    lines = {line.outcome: line for line in worker.run_batch(tasks_of(load_study(study.folder), "rollout_rewards"))}
    assert set(lines) == {Outcome.SUCCESS, Outcome.INVALID}
    assert "RuntimeError: out of memory" in lines[Outcome.INVALID].result.message
    assert len(asked(home, "first")) == 2, "it is asked once for both, and not again after it broke"


def test_without_videos_there_are_labels_and_no_scores(home: Path):
    study = blocks_study(home, 1, settings={"rewards": {"models": ["nobody"]}})
    run_here(study)
    [line] = score(study).values()
    assert line.outcome is Outcome.SUCCESS and line.row["label"] == 5 and line.row["scores"] == {}
