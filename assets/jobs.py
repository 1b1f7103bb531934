"""Jobs that take studies through several steps in one go, each step as a run of its own in the job's process."""

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from assets.operations import NightlySettings
from assets.pool import POOL
from assets.run import BENCH, RESCORE, STEPS, Request, Runner
from assets.scope import Scope
from assets.started_by import STARTED_BY
from resources.cluster import ClusterResource
from sbench_dag.study import load_study


class StudiesConfig(dg.Config):
    """Which studies; without a name, all of them."""

    studies: list[str] = Field(default=[], description="Names of studies. Empty: every study of the code location.")


def retry_failed(scopes: Sequence[Scope]) -> dg.JobDefinition:
    """It simulates, so it waits for its turn as the gates do."""
    text = (
        "Runs the partitions whose latest attempt is FAILED again, gate by gate, and rebuilds the report. One run per "
        "gate, or several where partitions that never ran lie between them."
    )
    return _job(scopes, "retry_failed", text, Request((*STEPS, BENCH), only_failed=True), POOL)


def nightly_rescore(scopes: Sequence[Scope]) -> dg.JobDefinition:
    text = (
        "Scores the rollouts that have no score of today's reward models and prompts, rebuilds the report, and scores "
        "the benchmark, where study.toml names one, with the models that have not done it as they are today. "
        "It simulates nothing."
    )
    return _job(scopes, "nightly_rescore", text, Request(RESCORE, only_ready=True, always_summary=True), None)


def nightly_schedule(job: dg.JobDefinition, settings: NightlySettings) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name="nightly_rescore",
        job=job,
        cron_schedule=settings.cron,
        execution_timezone=settings.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING if settings.enabled else dg.DefaultScheduleStatus.STOPPED,
        description="Re-scores every night: the job of the same name. Its time is set in operations.toml.",
    )


def _job(scopes: Sequence[Scope], name: str, text: str, request: Request, pool: str | None) -> dg.JobDefinition:
    by_name = {scope.study.name: scope for scope in scopes}

    @dg.op(name=f"{name}_of", description=text, pool=pool)
    def studies(context: dg.OpExecutionContext, config: StudiesConfig, cluster: ClusterResource) -> None:
        unknown = set(config.studies) - set(by_name)
        if unknown:
            raise dg.Failure(
                f"ops.{name}_of.config.studies = {config.studies}: no study {', '.join(sorted(unknown))} here; "
                f"there are {', '.join(by_name)}",
                allow_retries=False,
            )
        failures = []
        for study in config.studies or by_name:
            try:
                runner = Runner(
                    context.instance,
                    load_study(by_name[study].study.folder),
                    cluster,
                    say=lambda text, study=study: context.log.info(f"{study}: {text}"),
                    tags={STARTED_BY: context.run_id},
                )
                runner.run(request)
                failures += [f"{study}: {failure}" for failure in runner.failures]
            except Exception as error:  # one study's trouble is not the others'
                failures.append(f"{study}: {type(error).__name__}: {error}")
        if failures:
            raise dg.Failure("\n".join(failures), allow_retries=False)

    @dg.job(name=name, description=text)
    def job() -> None:
        studies()

    return job
