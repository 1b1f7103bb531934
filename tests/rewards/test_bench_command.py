"""`sbench rewards bench` and `fit-clip-length`, as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sbench_dag.cli import main
from sbench_dag.errors import SetupError
from sbench_dag.files import lock
from sbench_dag.rewards.bench.scoring import score_into
from sbench_dag.rewards.bench.stored import read_predictions
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.constant import Constant
from sbench_dag.rewards.score import Score, Status
from tests.rewards.bench_data import IDS, write_bench
from tests.rewards.random_qwen3vl import write_tiny_qwen3vl
from tests.rewards.stub_server import Stub, says, serve
from tests.rewards.videos import write_video


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return write_bench(tmp_path / "bench")


def run(bench: Path, model: str, *argv: str) -> int:
    return main(["rewards", "bench", "--model", model, "--data", str(bench), "--resamples", "100", *argv])


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


class Counting:
    """Scores everything 3, or what it is told, and counts what it is asked."""

    def __init__(self, *scores: Score):
        self.identity = {"model": "counting"}
        self.asked: list[str] = []
        self._scores = scores

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        for number, example in enumerate(examples):
            self.asked.append(example.id)
            yield self._scores[number] if number < len(self._scores) else Score(Status.SCORED, 3)


def test_a_model_on_the_disk_gets_its_row(home: Path, bench: Path, capsys: pytest.CaptureFixture[str]):
    home.mkdir()
    write_tiny_qwen3vl(home / "tiny")
    (home / "reward_models.toml").write_text(
        '[tiny]\nkind = "qwen3vl"\nweights = "tiny"\ndecoding = "digits"\ndtype = "float32"\nbatch = 3\n'
    )
    assert run(bench, "tiny") == 0
    out, _ = capsys.readouterr()
    assert "8 examples in 3 subsets" in out and "tiny" in out and "always 3" in out
    file = Path(out.splitlines()[-1])
    assert file.is_relative_to(home / "reward_scores")
    stored = read_predictions(file, IDS)
    assert stored.problems == [] and set(stored.models) == {"tiny"}
    scores = stored.models["tiny"]
    assert set(scores) == set(IDS)
    assert all(
        score.status is Status.SCORED and score.expected and score.protocol["frame_indices"]
        for score in scores.values()
    )


def test_what_is_done_is_not_asked_again(tmp_path: Path):
    examples = [Example(name, write_video(tmp_path / f"{name}.mp4", 4), "pick") for name in "abc"]
    out = tmp_path / "deep" / "scores.jsonl"
    score_into(out, "counting", Counting(), examples[:2])
    told: list[bool] = []
    model = Counting()
    scores = score_into(out, "counting", model, examples, lambda _, before: told.append(before))
    assert model.asked == ["c"]
    assert told == [True, True, False]
    assert list(scores) == ["a", "b", "c"]
    assert [row["id"] for row in rows(out)] == ["a", "b", "c"]


def test_what_was_missing_and_what_has_changed_is_asked_again(tmp_path: Path):
    examples = [Example(name, write_video(tmp_path / f"{name}.mp4", 4), "pick") for name in "abcd"]
    out = tmp_path / "scores.jsonl"
    missing, garbled = Score(Status.MISSING, why="no server"), Score(Status.UNPARSEABLE, why="no text", answer="")
    score_into(out, "counting", Counting(missing, garbled), examples)
    write_video(tmp_path / "c.mp4", 5)
    examples[3] = Example("d", examples[3].video, "place")
    model = Counting()
    scores = score_into(out, "counting", model, examples)
    assert model.asked == ["a", "c", "d"]
    assert scores["b"] == garbled
    assert sorted(row["id"] for row in rows(out)) == ["a", "b", "c", "d"]


def test_a_line_that_was_not_finished_is_asked_again(tmp_path: Path):
    examples = [Example(name, tmp_path / f"{name}.mp4", "pick") for name in "ab"]
    out = tmp_path / "scores.jsonl"
    score_into(out, "counting", Counting(), examples)
    out.write_text(out.read_text()[:-20])
    model = Counting()
    score_into(out, "counting", model, examples)
    assert model.asked == ["b"]
    assert [row["id"] for row in rows(out)] == ["a", "b"]


def test_scores_of_other_settings_are_not_mixed(tmp_path: Path):
    examples = [Example("a", tmp_path / "a.mp4", "pick")]
    out = tmp_path / "scores.jsonl"
    score_into(out, "x", Constant(1), examples)
    before = out.read_bytes()
    with pytest.raises(SetupError, match=r"scores\.jsonl: line 1: a score of another model or of other settings"):
        score_into(out, "x", Constant(2), examples)
    assert out.read_bytes() == before


def test_two_processes_do_not_write_one_file(tmp_path: Path):
    with (tmp_path / ".scores.jsonl.lock").open("w") as held:
        assert lock(held, wait=False)
        with pytest.raises(SetupError, match="another process is writing it"):
            score_into(tmp_path / "scores.jsonl", "x", Constant(1), [Example("a", tmp_path / "a.mp4", "pick")])


@pytest.mark.waits
def test_a_killed_run_loses_no_more_than_what_was_under_way(home: Path, bench: Path):
    """The server answers four of eight and then hangs; the process is killed, and the next one asks the other four."""
    home.mkdir()
    fifth = threading.Event()
    go_on = threading.Event()

    def before() -> None:
        if len(stub.requests) == 5:
            fifth.set()
            go_on.wait()

    stub: Stub
    with serve(says("ANSWER: 2"), before=before) as stub:
        (home / "reward_models.toml").write_text(
            f'[stub]\nkind = "openai"\nurl = "{stub.url}"\nmodel = "m"\nconcurrency = 1\n'
        )
        out = home / "scores.jsonl"
        sbench = [
            sys.executable,
            "-c",
            "from sbench_dag.cli import main; main()",
            "rewards",
            "bench",
            "--model",
            "stub",
        ]
        process = subprocess.Popen([*sbench, "--data", str(bench), "--out", str(out)], stderr=subprocess.DEVNULL)
        try:
            assert fifth.wait(120)
            assert len(rows(out)) == 4
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        go_on.set()
        assert run(bench, "stub", "--out", str(out)) == 0
    assert sorted(row["id"] for row in rows(out)) == sorted(IDS)
    assert len(stub.requests) == 5 + 4


def test_a_limit_is_spread_over_the_benchmark(home: Path, bench: Path, capsys: pytest.CaptureFixture[str]):
    out = home / "scores.jsonl"
    assert run(bench, "constant-3", "--limit", "4", "--out", str(out)) == 0
    assert [row["id"] for row in rows(out)] == [IDS[0], IDS[2], IDS[4], IDS[6]]
    assert "4 of 8 examples" in capsys.readouterr().err
    assert run(bench, "constant-3", "--limit", "0") == 2
    assert "--limit 0: must be at least 1" in capsys.readouterr().err


def test_why_there_is_no_score_is_said(home: Path, bench: Path, capsys: pytest.CaptureFixture[str]):
    home.mkdir()
    video = bench / "test" / f"{IDS[0]}.mp4"
    video.write_bytes(b"broken")
    (home / "reward_models.toml").write_text('[short]\nkind = "clip-length"\nthresholds_s = [0.5, 0.6, 0.7, 0.8]\n')
    assert run(bench, "short") == 0
    assert f"1 x no score: missing: {video}: can't be decoded" in capsys.readouterr().err


def test_the_clip_length_rule_is_fitted_on_one_split_and_scored_on_another(
    home: Path, bench: Path, capsys: pytest.CaptureFixture[str]
):
    (bench / "test").rename(bench / "train")
    assert main(["rewards", "fit-clip-length", "--data", str(bench)]) == 0
    out = capsys.readouterr().out
    assert "# fitted on 8 of 8 videos" in out
    assert len(tomllib.loads(out)["clip-length"]["thresholds_s"]) == 4
    home.mkdir()
    (home / "reward_models.toml").write_text(out)
    write_bench(bench)
    assert run(bench, "clip-length") == 0
    assert "clip-length" in capsys.readouterr().out


def test_a_model_of_the_hub_is_looked_up_and_what_is_wrong_is_one_line(
    home: Path, bench: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from huggingface_hub import HfApi

    def model_info(self, repo: str, timeout: float) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(HfApi, "model_info", model_info)
    assert run(bench, "roboreward-8b") == 2
    assert capsys.readouterr().err.startswith(
        "sbench: teetone/RoboReward-8B: no network. Name a commit of 40 hex digits"
    )
