"""Gate G0 as an asset: one partition per episode."""

from typing import Any

import dagster as dg

from assets.events import complete_check
from assets.gate import GateRun, run_gate
from assets.scope import Scope
from assets.show import table
from resources.cluster import ClusterResource
from sbench_dag.reports.grid import Results
from sbench_dag.scenes.gate import G0_SPIKE
from sbench_dag.study import Study
from sbench_dag.work.store import Line

_SUPPORTED = "truth_is_supported"


def g0_spike(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(G0_SPIKE.name)
    supported = dg.AssetCheckSpec(
        _SUPPORTED, asset=key, description="Every query's object stands on the furniture that the truth names."
    )
    run = GateRun(G0_SPIKE, _show, checks=lambda study: [_truth_is_supported(key, study)])

    @scope.gate_asset(G0_SPIKE, [complete_check(key), supported])
    def asset(context: dg.AssetExecutionContext, cluster: ClusterResource):
        yield from run_gate(context, scope, cluster, run)

    return asset


def _show(study: Study, line: Line) -> dict[str, Any]:
    checks = line.row.get("checks", [])
    rows = [{name: str(check[name]) for name in ("check", "passed", "value", "limit")} for check in checks]
    numbers = {check["check"]: check["value"] for check in checks if isinstance(check["value"], float)}
    contradicted = line.row.get("contradicted")
    return {**numbers, "checks": table(rows), **({"contradicted": contradicted} if contradicted else {})}


def _truth_is_supported(key: dg.AssetKey, study: Study) -> dg.AssetCheckResult:
    found: dict[str, str] = {}
    for episode, line in Results(study).of(G0_SPIKE.name).items():
        found |= {f"{episode}.{query}": why for query, why in line.row.get("contradicted", {}).items()}
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=_SUPPORTED,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(found)} queries are contradicted; their plans are invalid" if found else "",
        metadata=dict(sorted(found.items())[:50]),
    )
