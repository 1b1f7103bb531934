"""A manifest's inputs, and whether they have changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.plans.build import build_manifest
from sbench_dag.plans.inputs import input_files, signature
from tests.by_hand import write_answers, write_episode


def test_all_that_a_manifest_is_built_of_is_watched(dataset: Dataset):
    watched = {str(file) for file in input_files(dataset)}
    opened: set[str] = set()
    sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
    build_manifest(dataset)
    assert {file for file in opened if file.startswith(str(dataset.root))} == watched


def test_a_signature_opens_no_file(dataset: Dataset):
    opened: set[str] = set()
    sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
    signature(input_files(dataset))
    assert not {file for file in opened if file.startswith(str(dataset.root))}


def replace_by_another_of_the_same_age(root: Path) -> None:
    file = root / "answers" / "s3_vlm" / "results.json"
    fresh = file.with_name("fresh")
    shutil.copy2(file, fresh)
    fresh.replace(file)


def remove_episode(root: Path) -> None:
    shutil.rmtree(root / "episodes" / "val_0001__0")


CHANGES: list[Callable[[Path], object]] = [
    lambda root: write_answers(root, "new", [("last-seen", "q00", "kitchen", "countertop")]),
    lambda root: shutil.rmtree(root / "answers" / "s3_vlm"),
    lambda root: os.utime(root / "answers" / "s3_vlm" / "results.json"),
    lambda root: os.utime(root / "answers" / "s3_vlm" / "run.json"),
    lambda root: (root / "answers" / "s3_vlm" / "run.json").unlink(),
    lambda root: os.utime(root / "episodes" / "val_0001__0" / "eval_spec.json"),
    lambda root: os.utime(root / "dataset.json"),
    lambda root: write_episode(root, "val_0003__0"),
    lambda root: (root / "episodes" / "empty").mkdir(),
    remove_episode,
    replace_by_another_of_the_same_age,
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_shows(dataset: Dataset, change: Callable[[Path], object]):
    before = signature(input_files(dataset))
    assert signature(input_files(Dataset(dataset.root))) == before
    change(dataset.root)
    assert signature(input_files(Dataset(dataset.root))) != before
