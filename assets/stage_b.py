"""Gate Stage B as an asset: one partition per plan."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.events import complete_check
from assets.gate import GateRun, run_gate
from assets.limit_checks import limit_check, limit_spec
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.grounding.gate import STAGE_B
from sbench_dag.limits import blind_reached
from sbench_dag.reports.grid import Results
from sbench_dag.stops import oracle_reached
from sbench_dag.study import Study
from sbench_dag.work.store import Line

_FLOOR, _G1 = "floor_blind_reached", "g1_oracle_reached"


def stage_b(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(STAGE_B.name)
    checks = [
        complete_check(key),
        limit_spec(
            key, _FLOOR, "Common sense alone reaches much less than the truth does (stop.blind_reached_max of it)."
        ),
        limit_spec(key, _G1, "G1: given the true place, the robot gets there. Stage C waits for it."),
    ]
    run = GateRun(STAGE_B, _show, checks=lambda results: _checks(key, results))

    @scope.gate_asset(STAGE_B, checks)
    def asset(context: dg.AssetExecutionContext, cluster: ClusterResource):
        yield from run_gate(context, scope, cluster, run)

    return asset


def _checks(key: dg.AssetKey, results: Results) -> Iterator[dg.AssetCheckResult]:
    yield limit_check(key, _FLOOR, blind_reached(results))
    yield limit_check(key, _G1, oracle_reached(results))


def _show(study: Study, line: Line) -> dict[str, Any]:
    selections = line.row.get("selections", [])
    nearest = [d["horizontal_m"] for s in selections for d in s["distances"]]
    return {
        "anchor": ", ".join(str(s["anchor"]) for s in selections),
        "approached": ", ".join(s["approached"] or "nothing perceived" for s in selections),
        **({"nearest_true_body_m": round(min(nearest), 3)} if nearest else {}),
    }
