"""The readers of an episode's files name the file, the field and the value of whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from sbench_dag.dataset.dataset import Dataset, Episode
from sbench_dag.errors import InputError


@pytest.fixture
def episode(dataset: Dataset) -> Episode:
    return dataset.episode("val_0001__0")


def rewrite_npz(file: Path, change: Callable[[dict], None]) -> None:
    with np.load(file) as data:
        arrays = {key: data[key] for key in data.files}
    change(arrays)
    np.savez(file, **arrays)


def test_what_is_written_is_read_back(episode: Episode):
    state, trajectory = episode.end_state, episode.trajectory
    assert state.bodies.names == episode.meta.tracked == trajectory.bodies.names
    assert state.frame == 2
    np.testing.assert_allclose(state.bodies.quat_wxyz[3], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    np.testing.assert_array_equal(trajectory.bodies.position[-1], state.bodies.position)
    assert trajectory.events[0].body == "mug_0_0"
    assert episode.eval_spec.query("q02").gt_bodies == ("potato_0_0", "potato_1_0")


def test_an_older_sample_keeps_its_end_state_in_states(episode: Episode):
    older = episode.files.folder / "states" / "final.npz"
    older.parent.mkdir()
    (episode.files.folder / "final_state.npz").rename(older)
    assert episode.end_state.frame == 2


def set_pose(index: tuple, value: float) -> Callable[[dict], None]:
    def change(arrays: dict) -> None:
        arrays["pose"][index] = value

    return change


def shorten(arrays: dict) -> None:
    arrays["pose"] = arrays["pose"][:, :6]


def misspell(arrays: dict) -> None:
    arrays["poses"] = arrays.pop("pose")


def repeat_name(arrays: dict) -> None:
    arrays["names"][1] = arrays["names"][0]


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (misspell, "pose", "did 'poses' mean 'pose'"),
        (shorten, "pose", "expected (4, 7)"),
        (set_pose((1, 2), np.nan), "pose[1, 2]", "not a finite number"),
        (set_pose((0, slice(3, 7)), 0.45), "pose[:, 3:][0]", "norm of a quaternion"),
        (repeat_name, "names", "appears twice"),
        (lambda arrays: arrays.pop("robot_base_pose"), "robot_base_pose", "missing"),
        (lambda arrays: arrays.update(frame=np.array([1, 2])), "frame", "wrong shape"),
    ],
)
def test_a_bad_end_state_is_named(episode: Episode, change: Callable[[dict], None], field: str, says: str):
    rewrite_npz(episode.files.final_state, change)
    with pytest.raises(InputError) as error:
        _ = episode.end_state
    assert (error.value.file, error.value.field) == (episode.files.final_state, field)
    assert says in str(error.value)


@pytest.mark.parametrize("name", ["meta", "final_state", "trajectory", "eval_spec"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_truncated_file_is_named(episode: Episode, name: str, share: float):
    file: Path = getattr(episode.files, name)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError) as error:
        getattr(episode, {"final_state": "end_state"}.get(name, name))
    assert str(file) in str(error.value)


@pytest.mark.parametrize("name", ["meta", "final_state", "trajectory", "eval_spec"])
def test_a_missing_file_is_named(episode: Episode, name: str):
    getattr(episode.files, name).unlink()
    with pytest.raises(InputError, match="does not exist"):
        getattr(episode, {"final_state": "end_state"}.get(name, name))


def test_a_trajectory_with_a_number_that_is_none_is_named(episode: Episode):
    with h5py.File(episode.files.trajectory, "r+") as data:
        data["pose"][1, 2, 0] = np.inf
    with pytest.raises(InputError, match=r"pose\[1, 2, 0\] = inf"):
        _ = episode.trajectory


def test_an_episode_in_the_wrong_folder_is_named(episode: Episode):
    data = json.loads(episode.files.meta.read_text())
    episode.files.meta.write_text(json.dumps({**data, "episode": "val_0009__0"}))
    with pytest.raises(InputError, match="the folder is called 'val_0001__0'"):
        _ = episode.meta


def test_the_content_hash_changes_with_any_file(dataset: Dataset):
    before = dataset.episode("val_0001__0").content
    assert before != dataset.episode("val_0002__0").content
    rewrite_npz(dataset.episode("val_0001__0").files.final_state, set_pose((0, 0), 5.0))
    assert dataset.episode("val_0001__0").content != before
