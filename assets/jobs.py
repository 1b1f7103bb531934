"""Jobs that take a study through several steps in one go, each step as a run of its own in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg
from pydantic import Field

from assets.run import RESCORE, STEPS, Request, Runner
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.study import load_study

PARENT = "sbench/started_by"


class StudiesConfig(dg.Config):
    """Which studies; without a name, all of them."""

    studies: list[str] = Field(default=[], description="Names of studies. Empty: every study of the code location.")


def retry_failed(scopes: Sequence[Scope]) -> dg.JobDefinition:
    """It simulates, so it waits for its turn as the gates do."""
    return _job(
        scopes,
        "retry_failed",
        "Runs the partitions whose latest attempt is FAILED again, gate by gate, in one run per gate where nothing "
        "unfinished lies between them, and rebuilds the report.",
        Request(STEPS, only_failed=True),
        {"dagster/pool": "gpu_sim"},
    )


def nightly_rescore(scopes: Sequence[Scope]) -> dg.JobDefinition:
    return _job(
        scopes,
        "nightly_rescore",
        "Scores rollouts that have no score yet, of a new reward model or prompt for instance, and rebuilds the "
        "report. It simulates nothing.",
        Request(RESCORE, only_ready=True),
    )


def _job(
    scopes: Sequence[Scope], name: str, description: str, request: Request, tags: Mapping[str, str] | None = None
) -> dg.JobDefinition:
    by_name = {scope.study.name: scope for scope in scopes}

    @dg.op(name=f"{name}_op", description=description, pool="gpu_sim" if tags else None)
    def op(context: dg.OpExecutionContext, config: StudiesConfig, cluster: ClusterResource) -> None:
        failures = []
        for study in config.studies or by_name:
            if study not in by_name:
                failures.append(f"studies: no study {study!r} in the code location; there are {', '.join(by_name)}")
                continue
            runner = Runner(
                context.instance,
                load_study(by_name[study].study.folder),
                cluster,
                say=lambda text, study=study: context.log.info(f"{study}: {text}"),
                tags={PARENT: context.run_id},
            )
            runner.run(request)
            failures += [f"{study}: {failure}" for failure in runner.failures]
        if failures:
            raise dg.Failure("\n".join(failures), allow_retries=False)

    @dg.job(name=name, description=description)
    def job() -> None:
        op()

    return job
