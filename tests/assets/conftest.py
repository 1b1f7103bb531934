from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

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


def pytest_configure(config: pytest.Config) -> None:
    """pytest resets what assets/__init__.py has set."""
    config.addinivalue_line("filterwarnings", "ignore::dagster.BetaWarning")
