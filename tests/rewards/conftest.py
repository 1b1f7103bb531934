"""A small scene that was really picked in. Don't change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.study import Study
from tests.rewards.scene import picked_study


@pytest.fixture(scope="session")
def picked(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder: Path = tmp_path_factory.mktemp("picked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(folder))
        return picked_study(folder)
