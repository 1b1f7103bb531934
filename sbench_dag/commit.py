"""Which code runs."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


@cache
def code_commit() -> str | None:
    """The commit of the code that runs, `-dirty` if files of it were changed; None where it is no git checkout."""
    if not (CHECKOUT / ".git").exists():
        return None
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
