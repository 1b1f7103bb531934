"""Data sets that several files look at. Don't change them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.synthetic.make import make_dataset


@pytest.fixture(scope="session")
def made_test(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The `test` profile, made by one process."""
    root = tmp_path_factory.mktemp("embedded") / "test"
    make_dataset(root, "test", workers=1)
    return Dataset(root)


@pytest.fixture(scope="session")
def made_mini(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    root: Path = tmp_path_factory.mktemp("embedded") / "mini"
    make_dataset(root, "mini")
    return Dataset(root)
