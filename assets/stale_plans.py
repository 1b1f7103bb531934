"""The sensor that keeps studies up to date."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets.catch_up import next_runs
from assets.memory import Memory
from assets.operations import StaleSettings
from assets.run import STEPS
from assets.scope import Scope
from sbench_dag.errors import SbenchError
from sbench_dag.stale import Scanner


def stale_plans(scopes: Sequence[Scope], settings: StaleSettings) -> dg.SensorDefinition:
    status = dg.DefaultSensorStatus.RUNNING if settings.enabled else dg.DefaultSensorStatus.STOPPED
    # they live as long as this process and read only what is new
    scanners: dict[str, Scanner] = {}
    memories: dict[str, Memory] = {}

    @dg.sensor(
        name="stale_plans",
        asset_selection=dg.AssetSelection.assets(*(scope.key(step) for scope in scopes for step in STEPS)),
        minimum_interval_seconds=settings.interval_s,
        default_status=status,
        description="Requests what is stale: changed episodes, answers, settings or code, and what never ran. Gate by "
        "gate, in as few runs as possible. What is invalid waits for `retry_failed`.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        requests: list[dg.RunRequest] = []
        notes: list[str] = []
        for scope in scopes:
            try:
                if scope.study.name not in scanners:
                    scanners[scope.study.name] = Scanner(scope.study.folder)
                    memories[scope.study.name] = Memory(context.instance)
                memory = memories[scope.study.name]
                memory.instance = context.instance  # Dagster makes one for each tick
                found = next_runs(memory, scope, scanners[scope.study.name].scan)
            except Exception as error:  # one study's trouble is not the others'
                name = "" if isinstance(error, SbenchError) else f"{type(error).__name__}: "
                notes.append(f"{scope.study.name}: {name}{error}")
                scanners.pop(scope.study.name, None)
                continue
            requests += found.requests
            notes += found.notes
        for note in notes:
            context.log.info(note)
        if not requests:
            return dg.SkipReason("; ".join(notes) or "nothing is stale")
        return dg.SensorResult(run_requests=requests)

    return sensor
