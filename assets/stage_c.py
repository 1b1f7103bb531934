"""Gate Stage C as an asset: one partition per pick. It waits for G1 and G2, which an operator can override."""

from collections.abc import Iterable, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.events import complete_check
from assets.gate import GateRun, run_gate
from assets.limit_checks import limit_check, limit_spec
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.manipulation.gate import STAGE_C
from sbench_dag.stops import G1, G2, Decision, record_override, smoke_lifted, stage_c_batches
from sbench_dag.study import Study
from sbench_dag.work.store import Line

_G2 = "g2_smoke_lifted"


class StageCConfig(dg.Config):
    """The reason to go on although a stopping gate did not pass. It is recorded and shown in the report."""

    override_g1: str = Field(default="", description="Why to run although too few oracle plans reached.")
    override_g2: str = Field(default="", description="Why to run although too few smoke plans were lifted.")


def stage_c(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(STAGE_C.name)
    checks = [
        complete_check(key),
        limit_spec(key, _G2, "G2: of a few plans with the true place, the robot lifts most. The rest waits for it."),
    ]

    @scope.gate_asset(STAGE_C, checks)
    def asset(context: dg.AssetExecutionContext, config: StageCConfig, cluster: ClusterResource):
        overrides = _Overrides(context, {G1: config.override_g1, G2: config.override_g2})
        run = GateRun(
            STAGE_C,
            show=lambda study, line: {**_show(study, line), **overrides.used},
            batches=overrides.batches,
            checks=lambda results: [limit_check(key, _G2, smoke_lifted(results))],
        )
        yield from run_gate(context, scope, cluster, run)

    return asset


class _Overrides:
    """What the operator overrides in this run. `used`: what had to be, for the events' metadata."""

    def __init__(self, context: dg.AssetExecutionContext, reasons: dict[str, str]):
        self._context, self._reasons = context, reasons
        self.used: dict[str, str] = {}

    def batches(self, study: Study, todo: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        return stage_c_batches(study, todo, lambda decision: self._overridden(study, decision))

    def _overridden(self, study: Study, decision: Decision) -> bool:
        why = self._reasons[decision.gate].strip()
        if not why:
            return False
        record_override(study, decision, why)
        self._context.log.warning(f"{decision.gate} is overridden ({decision.text}): {why}")
        self._context.instance.add_run_tags(self._context.run.run_id, {f"sbench/override_{decision.gate.lower()}": why})
        self.used[f"override {decision.gate}"] = f"{why} ({decision.text})"
        return True


def _show(study: Study, line: Line) -> dict[str, Any]:
    row = line.row
    if "trace" not in row:
        return {}
    files = {
        name: dg.MetadataValue.path(str(study.folder / row[name]["file"])) for name in ("video", "trace") if row[name]
    }
    return {
        **files,
        "lifted_cm": round(max((100 * body["highest_lift_m"] for body in row["bodies"]), default=0.0), 2),
        "held_s": max((body["longest_hold_s"] for body in row["bodies"]), default=0.0),
        "simulated_s": row["simulated_s"],
        "success_held": row["success_held"],
        "success_at_end": row["success_at_end"],
    }
