from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.slurm import Sandbox, sandbox


@pytest.fixture
def slurm() -> Iterator[Sandbox]:
    """A cluster without accounting: the harder case."""
    with sandbox() as one:
        yield one


@pytest.fixture(params=["no accounting", "accounting"])
def both(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A cluster with and one without accounting."""
    with sandbox(*(["--accounting"] if request.param == "accounting" else [])) as one:
        yield one


@pytest.fixture(params=["no accounting", "accounting"])
def either(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The same, but both forget a finished job within seconds."""
    with sandbox("--conf", "MinJobAge=2", *(["--accounting"] if request.param == "accounting" else [])) as one:
        yield one
