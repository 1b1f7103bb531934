"""The sensor that ends runs whose process was killed."""

import dagster as dg

from assets.instance import fail_lost_runs


def lost_runs() -> dg.SensorDefinition:
    @dg.sensor(
        name="lost_runs",
        description="Ends the runs of `python -m assets run` processes of this host that were killed.",
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        return dg.SkipReason(f"runs whose process was killed: {fail_lost_runs(context.instance)}")

    return sensor
