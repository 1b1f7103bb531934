"""How a run begins: with the study as it is now, and tags that say what it ran on, however it was launched."""

from __future__ import annotations

import subprocess
from functools import cache

import dagster as dg

from assets.instance import CHECKOUT
from assets.scope import Scope
from sbench_dag.study import Study


def begin(context: dg.AssetExecutionContext, scope: Scope) -> Study:
    study = scope.current()
    tags = {"sbench/study": study.name, "sbench/profile": study.dataset.info.profile, "sbench/revision": study.revision}
    if commit := code_commit():
        tags["sbench/commit"] = commit
    context.instance.add_run_tags(context.run.run_id, tags)
    return study


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
