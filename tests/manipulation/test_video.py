"""A video lasts as long as what it shows, and is whole or not there at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sbench_dag.manipulation.video import VideoWriter, video_duration_s
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study, create_study
from tests.blocks import blocks_study
from tests.running import rows_of, run_here, tasks_of


@pytest.fixture
def study(home: Path) -> Study:
    plain = blocks_study(home, 1)
    study = create_study("filmed", plain.dataset_path)
    run_here(study, "g0_spike", "stage_b", "stage_c")
    return study


def stage_c_row(study: Study) -> dict:
    [row] = rows_of(study, "stage_c").values()
    return row[4]


def test_a_rollouts_video_lasts_as_long_as_the_simulated_time(study: Study):
    row = stage_c_row(study)
    assert video_duration_s(study.folder / row["video"]["file"]) == pytest.approx(row["simulated_s"], abs=1 / 15)


def test_a_robot_that_never_moves_is_filmed_once_and_has_failed(home: Path):
    policy = {"name": "tests.policies:Idle", "attempts": 1}
    study = create_study("idle", blocks_study(home, 1).dataset_path, {"policy": policy})
    [line] = run_here(study, "g0_spike", "stage_b", "stage_c")["stage_c"]
    assert (line.outcome, line.result.reason) == (Outcome.FAILURE, Reason.NO_GRASP), line.result.message
    assert video_duration_s(study.folder / line.row["video"]["file"]) == pytest.approx(1 / 15)


@pytest.mark.parametrize("name", ["trace", "video"])
def test_a_damaged_file_is_made_again_by_the_next_verdict(study: Study, name: str):
    file = study.folder / stage_c_row(study)[name]["file"]
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    toml = study.folder / "study.toml"
    toml.write_text(toml.read_text() + "[judge]\nlift_m = 0.02\n")
    again = create_study("filmed", study.dataset_path)
    assert len(tasks_of(again, "stage_c")) == 1
    run_here(again, "stage_c")
    assert file.read_bytes() == whole, "the same plan gives the same file"


def test_a_new_threshold_judges_the_stored_trace_and_simulates_nothing(study: Study):
    rollouts = len(list((study.results / "rollout").glob("*")))
    toml = study.folder / "study.toml"
    toml.write_text(toml.read_text() + "[judge]\nlift_m = 0.5\n")
    again = create_study("filmed", study.dataset_path)
    [line] = run_here(again, "stage_c")["stage_c"]
    assert line.outcome is Outcome.FAILURE
    assert len(list((study.results / "rollout").glob("*"))) == rollouts


def test_an_abandoned_video_leaves_nothing(tmp_path: Path):
    writer = VideoWriter(tmp_path / "v.mp4", 64, 64)
    writer.write(np.zeros((64, 64, 3), dtype=np.uint8))
    writer.discard()
    assert list(tmp_path.iterdir()) == []
