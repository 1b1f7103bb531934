"""A real Postgres for a test, started by scripts/postgres-sandbox."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "postgres-sandbox"


def script(command: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, command, "--dir", folder, *options], capture_output=True, text=True)


@contextmanager
def sandbox() -> Iterator[Path]:
    """A server with an empty data base; its folder. Where pytest keeps files, the user postgres may not enter."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir="/tmp"))
    try:
        up = script("up", folder)
        if up.returncode:
            pytest.skip(f"no Postgres sandbox: {up.stderr.strip()}")
        yield folder
    finally:
        script("down", folder, "--wipe")
        shutil.rmtree(folder, ignore_errors=True)


def url(folder: Path) -> str:
    """The value of SBENCH_POSTGRES."""
    return script("up", folder).stdout.strip().removeprefix("export SBENCH_POSTGRES=")
