"""The sensor that tells of failed runs."""

from collections.abc import Sequence

import dagster as dg

from assets.notifications.message import failure_of
from assets.notifications.send import failures_file, resolved, tell, was_told
from assets.operations import NotifySettings
from assets.run import STEPS
from assets.scope import Scope


def failure_hook(scopes: Sequence[Scope], settings: NotifySettings) -> dg.SensorDefinition:
    assets = [scope.key(step) for scope in scopes for step in STEPS]

    @dg.run_failure_sensor(
        name="tell_failures",
        description="Tells of each failed run, also of those of `python -m assets run`, as operations.toml says.",
        minimum_interval_seconds=10,
        # a run at a terminal has no code location: Dagster would not count it among this one's
        monitor_all_code_locations=True,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def tell_failures(context: dg.RunFailureSensorContext) -> None:
        run = context.dagster_run
        places, problems = resolved(settings)
        if was_told(run.run_id, places):
            return
        failure = failure_of(context.instance, run, assets, places.ui_url)
        for name, why in tell(failure, places, problems).items():
            context.log.warning(f"notify.{name}, of run {run.run_id}: {why}")
        context.log.info(f"{failure.headline}; it is in {failures_file(places)}")

    return tell_failures
