"""What is written: whole, the same every time, and accepted by the readers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sbench_dag.dataset.answers import read_run
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.errors import SetupError
from sbench_dag.plans.build import build_manifest
from sbench_dag.synthetic.make import make_dataset
from sbench_dag.synthetic.profiles import find_profile, orders, revision


def _bytes(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


def test_the_same_profile_and_seed_give_the_same_bytes_whatever_the_number_of_workers(
    made_test: Dataset, tmp_path: Path
):
    make_dataset(tmp_path / "again", "test", workers=2)
    assert _bytes(tmp_path / "again") == _bytes(made_test.root)


def test_another_seed_gives_other_houses(made_test: Dataset):
    assert [o.house_index for o in orders(find_profile("test"), 1)] == [1000, 1001]
    assert revision(find_profile("test"), 1) != made_test.info.revision


def test_a_data_set_that_is_there_is_left_alone(made_test: Dataset, tmp_path: Path):
    root = tmp_path / "copy"
    shutil.copytree(made_test.root, root)
    (root / "episodes" / made_test.episodes[0] / "traj.h5").write_bytes(b"damaged")
    make_dataset(root, "test")
    assert (root / "episodes" / made_test.episodes[0] / "traj.h5").read_bytes() == b"damaged"


def test_a_folder_with_another_data_set_is_refused(made_test: Dataset):
    with pytest.raises(SetupError, match="holds revision 'houses-1-test-0', not 'houses-1-test-7'"):
        make_dataset(made_test.root, "test", seed=7)


def test_an_unknown_profile_is_a_setup_error_that_lists_the_known_ones(tmp_path: Path):
    with pytest.raises(SetupError, match="test, mini, reference"):
        make_dataset(tmp_path, "huge")


def test_progress_counts_the_episodes(tmp_path: Path):
    seen: list[tuple[int, int]] = []
    make_dataset(tmp_path / "seen", "test", progress=lambda done, of: seen.append((done, of)), workers=1)
    assert seen == [(1, 2), (2, 2)]


def test_readers_and_manifest_accept_all_of_it(made_test: Dataset):
    manifest = build_manifest(made_test)
    assert manifest.problems == ()
    assert made_test.info.synthetic
    for name in made_test.episodes:
        episode = made_test.episode(name)
        assert len(episode.meta.tracked) == len(episode.end_state.bodies.names) == 25
        assert episode.end_state.frame == len(episode.trajectory.time_s) - 1
        assert all(file.exists() for file in episode.files.all)
    sources = {cell.source for cell in manifest.cells}
    assert len(sources) == 12 and {"oracle-loc", "blind", "event-log/low-noise"} < sources
    assert not any(cell.invalid for cell in manifest.cells)


def test_answers_are_declared_synthetic_and_bound_to_the_revision(made_test: Dataset):
    models = {}
    for file in made_test.runs:
        run = read_run(file, problems := [])
        models[file.parent.name] = run.model
        assert not problems and run.synthetic and run.revision == made_test.info.revision
    assert models == {"s3_blind": "common-sense", "s3_high-noise": "high-noise", "s3_low-noise": "low-noise"}


def test_rows_have_the_reference_format(made_test: Dataset):
    rows = json.loads((made_test.root / "answers" / "s3_low-noise" / "results.json").read_text())
    specs = {name: made_test.episode(name).eval_spec for name in made_test.episodes}
    for row in rows:
        query = specs[row["episode"]].query(row["query"])
        assert row["text"] == query.text
        assert [entry["body"] for entry in row["gt"]] == list(query.gt_bodies)
        assert set(row["gt"][0]) == {"body", "category", "room", "surface"}
        assert set(row["labels"]) == {"kind", "steps", "scoring", "twin", "floor"}
        assert row["scores"]["loc_set"] in (True, False)
        assert row["answer"]["abstain"] == (not row["answer"]["selections"])


def test_the_reference_profile_has_the_sources_size():
    todo = orders(find_profile("reference"), 0)
    assert sum(order.queries for order in todo) == 353
    assert len({order.episode for order in todo}) == len(todo) == 44
    assert len({order.house_index for order in todo}) < len(todo)
