"""A study's rollouts become a data set in RoboReward's layout: deterministic, whole, and made good after a crash."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sbench_dag.cli import main
from sbench_dag.context import Context
from sbench_dag.errors import SetupError
from sbench_dag.manipulation.trace import read_trace
from sbench_dag.rewards import make_dataset as module
from sbench_dag.rewards.clips import steps_shown
from sbench_dag.rewards.labelled_videos import Kinds
from sbench_dag.rewards.make_dataset import make_dataset, split_of
from sbench_dag.rewards.rubric import label_over_time
from sbench_dag.rewards.video import FrameRule, decode
from sbench_dag.study import Study
from tests.blocks import blocks_study

ALL = FrameRule(at_least=10_000, at_most=10_000)


@pytest.fixture(scope="module")
def made(picked: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("made") / "set"
    make_dataset(picked, folder)
    return folder


def metadata(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "train" / "metadata.jsonl").read_text().splitlines()]


def hashes(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_every_line_has_a_video_and_every_video_a_line(made: Path):
    lines = metadata(made)
    assert {line["kind"] for line in lines} == {"full", "clip", "counterfactual"}
    assert all(set(line) >= {"file_name", "task", "reward"} and line["reward"] in range(1, 6) for line in lines)
    files = {str(file.relative_to(made / "train")) for file in (made / "train").rglob("*.mp4")}
    assert files == {line["file_name"] for line in lines}
    assert len(files) == len(lines), "one video is never two lines: other readers take file names for keys"
    assert all(line["file_name"].startswith("table/table_index_0_") for line in lines)


def test_the_last_frame_of_a_clip_is_the_one_that_its_label_is_of(made: Path, picked: Study):
    context = Context(picked)
    for line in metadata(made):
        if line["kind"] != "clip":
            continue
        clip, row = decode(made / "train" / line["file_name"], ALL), context.upstream("stage_c", line["plan"]).row
        assert clip.duration_s == pytest.approx(line["cut_s"], abs=0.002)
        whole, count = decode(picked.folder / row["video"]["file"], ALL).frames.astype(int), clip.source_frames
        apart = [np.abs(clip.frames - whole[shift : count + shift]).mean() for shift in (0, 1)]
        assert apart[0] < min(2.0, apart[1]), "frame i of the clip is frame i of the video"
        assert count < len(whole)
        trace = read_trace(picked.folder / row["trace"]["file"])
        steps = steps_shown(trace)[count - 1]
        assert line["reward"] == label_over_time(trace, row["instances"], 1, picked.judge)[steps]


def test_a_counterfactual_is_the_very_same_video(made: Path):
    full = {line["plan"]: line["file_name"] for line in metadata(made) if line["kind"] == "full"}
    others = [line for line in metadata(made) if line["kind"] == "counterfactual"]
    assert len(others) > 10
    for line in others:
        assert (made / "train" / line["file_name"]).samefile(made / "train" / full[line["plan"]])


def test_the_same_rollouts_give_the_same_bytes(made: Path, picked: Study, tmp_path: Path):
    make_dataset(picked, tmp_path / "again", workers=1)
    assert hashes(tmp_path / "again") == hashes(made)


def test_a_call_that_was_killed_is_made_good_by_the_next(
    made: Path, picked: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module, "write_whole", dies)
        make_dataset(picked, tmp_path / "set", workers=1)
    (tmp_path / "set" / "train" / "table" / ".123.half.mp4").write_bytes(b"half a video")
    make_dataset(picked, tmp_path / "set", workers=1)
    assert hashes(tmp_path / "set") == hashes(made)


def test_what_is_there_is_not_made_again_and_what_is_missing_is(made: Path, picked: Study, tmp_path: Path):
    folder = tmp_path / "set"
    shutil.copytree(made, folder)
    calls: list[tuple[int, int]] = []
    make_dataset(picked, folder, progress=lambda *done: calls.append(done), workers=1)
    assert calls == []
    (folder / "train" / metadata(folder)[0]["file_name"]).unlink()
    make_dataset(picked, folder, progress=lambda *done: calls.append(done), workers=1)
    assert calls == [(1, 1)]
    assert hashes(folder) == hashes(made)


def test_other_kinds_replace_what_was_there(made: Path, picked: Study, tmp_path: Path):
    shutil.copytree(made, tmp_path / "set")
    make_dataset(picked, tmp_path / "set", Kinds(clipping=False, counterfactuals=False), workers=1)
    assert {line["kind"] for line in metadata(tmp_path / "set")} == {"full"}
    assert len(list((tmp_path / "set").rglob("*.mp4"))) == 4


def test_a_folder_of_something_else_is_left_alone(picked: Study, tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SetupError, match="holds something else"):
        make_dataset(picked, tmp_path)


def test_a_study_without_videos_says_what_to_do(home: Path, tmp_path: Path):
    with pytest.raises(SetupError, match=r"no rollouts with videos; run stage_c, with video\.enabled = true"):
        make_dataset(blocks_study(home, 1), tmp_path / "set")


def test_of_any_five_houses_in_a_row_all_splits_get_some():
    for first in range(10):
        assert sorted(split_of(house) for house in range(first, first + 5)) == [
            "test",
            "train",
            "train",
            "train",
            "val",
        ]


def test_the_command_prints_what_it_made(
    picked: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SBENCH_HOME", str(picked.folder.parents[1]))
    assert main(["rewards", "make-dataset", "--out", str(tmp_path / "set"), "--no-counterfactuals"]) == 0
    printed = capsys.readouterr().out
    assert "| train | full | 0 | 0 | 0 | 0 | 4 | 4 | 1 |" in printed
    assert "counterfactual" not in printed
    assert "| train | clip |" in (tmp_path / "set" / "README.md").read_text()
