"""Gate G0 finds whatever is not the episode's, says which file is to blame, and lets the others pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.scenes.gate import G0_SPIKE
from sbench_dag.study import Study
from sbench_dag.work.store import Line
from tests.blocks import blocks_study
from tests.running import run_here

BLOCKS = 10


@pytest.fixture
def study(home: Path) -> Study:
    return blocks_study(home, BLOCKS)


def files(study: Study):
    return study.dataset.episode(study.dataset.episodes[0]).files


def change_npz(study: Study, change: Callable[[dict[str, Any]], None]) -> None:
    with np.load(files(study).final_state) as data:
        arrays = {key: data[key] for key in data.files}
    change(arrays)
    np.savez(files(study).final_state, **arrays)


def spike(study: Study) -> Line:
    [line] = run_here(study, G0_SPIKE.name)[G0_SPIKE.name]
    return line


def failed_checks(line: Line) -> list[str]:
    return [check["check"] for check in line.row["checks"] if not check["passed"]]


def drop(count: int) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays["names"], arrays["pose"] = arrays["names"][count:], arrays["pose"][count:]

    return change


def test_a_sound_episode_passes_every_check(study: Study):
    line = spike(study)
    assert line.outcome is Outcome.SUCCESS, line.result.message
    checks = {check["check"]: check for check in line.row["checks"]}
    assert set(checks) == {
        "fingerprint", "match_ratio", "position_m", "rotation_deg", "end_state_in_trajectory", "last_frame",
    }  # fmt: skip
    assert checks["last_frame"]["value"] == 0.0, "the same machine renders the same picture"


def test_quaternions_written_as_xyzw_are_found_and_not_silently_accepted(study: Study):
    def swap(arrays: dict[str, Any]) -> None:
        arrays["pose"][:, 3:] = np.roll(arrays["pose"][:, 3:], -1, axis=1)

    change_npz(study, swap)
    line = spike(study)
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.G0_FAILED)
    assert "end_state_in_trajectory" in failed_checks(line)
    assert "order x y z w, expected w x y z" in line.result.message


def test_one_of_ten_bodies_missing_passes_is_shown_and_costs_the_plans_about_it(study: Study):
    change_npz(study, drop(1))
    line = spike(study)
    assert line.outcome is Outcome.SUCCESS
    check = next(c for c in line.row["checks"] if c["check"] == "match_ratio")
    assert (check["value"], check["detail"]) == (0.9, "not restored: block_0")
    plans = {line.key.split(".")[1]: line for line in run_here(study, "stage_b")["stage_b"]}
    assert (plans["q00"].outcome, plans["q00"].result.reason) == (Outcome.INVALID, Reason.GT_NOT_RESTORED)
    assert {plans[f"q{i:02d}"].outcome for i in range(1, BLOCKS)} == {Outcome.SUCCESS}


def test_two_of_ten_bodies_missing_fails_the_episode(study: Study):
    change_npz(study, drop(2))
    assert failed_checks(spike(study)) == ["match_ratio"]
    lines = run_here(study, "stage_b")["stage_b"]
    assert {(line.outcome, line.result.reason) for line in lines} == {(Outcome.INVALID, Reason.G0_FAILED)}


def test_a_body_that_does_not_rest_where_it_was_left_is_found(study: Study):
    change_npz(study, lambda arrays: arrays["pose"].__setitem__((3, 2), 0.4))
    found = failed_checks(spike(study))
    assert {"position_m", "end_state_in_trajectory"} <= set(found)


def test_a_body_that_lies_elsewhere_than_the_truth_says_costs_its_own_query(study: Study):
    spec = json.loads(files(study).eval_spec.read_text())
    spec["facts"]["furniture"] = {}
    spec["queries"][4]["answers"][0].update(room="room 0", surface="shelf")
    files(study).eval_spec.write_text(json.dumps(spec))
    study.refresh_manifest()
    line = spike(study)
    assert line.outcome is Outcome.SUCCESS
    assert line.row["contradicted"] == {"q04": "block_4 rests on the floor of the room 0, the truth says shelf, room 0"}
    lines = {line.key: line for line in run_here(study, "stage_b")["stage_b"]}
    invalid = {key.split(".")[1] for key, line in lines.items() if line.outcome is Outcome.INVALID}
    assert invalid == {"q04"}


def test_another_scene_than_the_episodes_is_found(study: Study):
    xml = study.dataset.root / "scenes" / "blocks" / "scene.xml"
    xml.write_text(xml.read_text().replace('mass="0.1"', 'mass="0.2"', 1))
    assert failed_checks(spike(study)) == ["fingerprint"]


def test_another_picture_than_the_episodes_last_frame_is_found(study: Study):
    picture = np.asarray(Image.open(files(study).last_frame))
    Image.fromarray(np.roll(picture, 20, axis=1)).save(files(study).last_frame)
    assert failed_checks(spike(study)) == ["last_frame"]


@pytest.mark.parametrize("name", ["final_state", "trajectory", "last_frame"])
def test_a_truncated_file_is_one_clear_error(study: Study, name: str):
    file: Path = getattr(files(study), name)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    line = spike(study)
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.BAD_INPUT)
    assert str(file) in line.result.message


def test_a_scene_that_mujoco_can_t_read_is_one_clear_error(study: Study):
    xml = study.dataset.root / "scenes" / "blocks" / "scene.xml"
    xml.write_text(xml.read_text()[:200])
    line = spike(study)
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.BAD_INPUT)
    assert str(xml) in line.result.message
