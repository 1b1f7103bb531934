"""Fixtures that several folders share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from tests.browser import browser, page, page_errors  # noqa: F401
from tests.by_hand import write_dataset

EXAMPLE = Path(__file__).parents[1] / "examples" / "red_block" / "scene.xml"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With -n, a folder's tests share a process, because they share fixtures; those that mostly wait are spread."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if item.get_closest_marker("waits") is None:
                item.add_marker(pytest.mark.xdist_group(str(item.path.parent.relative_to(config.rootpath))))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With SBENCH_REQUIRE_ALL=1, as in CI, a skipped test is a failed one: nothing may be missing there."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("SBENCH_REQUIRE_ALL") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, which SBENCH_REQUIRE_ALL=1 does not allow: {report.longrepr}"
    return report


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty SBENCH_HOME."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SBENCH_HOME", str(folder))
    return folder


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """The data set of by_hand.py."""
    return write_dataset(tmp_path / "by-hand")


@pytest.fixture(scope="session")
def block_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SBENCH_HOME with a data set made of the scene in examples/red_block. Copy it, don't change it."""
    folder = tmp_path_factory.mktemp("block")
    dataset_from_scene(EXAMPLE, folder / "datasets" / "red-block", "red-block")
    return folder


@pytest.fixture
def block_study(block_home: Path, home: Path) -> Study:
    """A study of one episode whose scene is not one of ours."""
    shutil.copytree(block_home, home)
    return create_study("red-block", home / "datasets" / "red-block", {"video": {"enabled": False}})
