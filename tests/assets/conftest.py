from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.instance import CHECKOUT
from sbench_dag.study import create_study
from tests.assets.support import Bench
from tests.by_hand import write_dataset


@pytest.fixture
def bench(home: Path) -> Iterator[Bench]:
    """Two episodes, 20 plans of which 14 are picks; nothing has run yet."""
    write_dataset(home / "datasets" / "by-hand")
    study = create_study("by-hand", home / "datasets" / "by-hand")
    with dg.DagsterInstance.ephemeral() as instance:
        yield Bench(study, instance)


@pytest.fixture
def served_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An SBENCH_HOME whose studies a web server and a daemon of the checkout serve, once there are some."""
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    (home / "dagster").mkdir(parents=True)
    with dg.DagsterInstance.get():
        pass  # its files have to be there before two processes look for them, as `dagster dev` sees to
    return home


def pytest_configure(config: pytest.Config) -> None:
    """pytest resets what assets/__init__.py has set."""
    config.addinivalue_line("filterwarnings", "ignore::dagster.BetaWarning")
