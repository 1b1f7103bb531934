"""How a run begins: with the study as it is now, and tags that say what it ran on, however it was launched."""

from __future__ import annotations

import dagster as dg

from assets.scope import Scope
from sbench_dag.commit import code_commit
from sbench_dag.study import Study


def begin(context: dg.AssetExecutionContext, scope: Scope) -> Study:
    study = scope.current()
    tags = {"sbench/study": study.name, "sbench/profile": study.dataset.info.profile, "sbench/revision": study.revision}
    if commit := code_commit():
        tags["sbench/commit"] = commit
    context.instance.add_run_tags(context.run.run_id, tags)
    return study
