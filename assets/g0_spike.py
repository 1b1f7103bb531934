"""Gate G0 as an asset: one partition per episode."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.events import complete_check
from assets.gate import GateRun, run_gate
from assets.limit_checks import limit_check, limit_spec
from assets.scope import Scope
from assets.show import table
from resources.cluster import ClusterResource
from sbench_dag.limits import gate_pass_rate, lowest_match_ratio
from sbench_dag.reports.grid import Results
from sbench_dag.scenes.gate import G0_SPIKE
from sbench_dag.study import Study
from sbench_dag.work.store import Line

_SUPPORTED = "truth_is_supported"
_PASS_RATE, _MATCH_RATIO = "gate_pass_rate", "match_ratio"


def g0_spike(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(G0_SPIKE.name)
    supported = dg.AssetCheckSpec(
        _SUPPORTED, asset=key, description="Every query's object stands on the furniture that the truth names."
    )
    specs = [
        complete_check(key),
        supported,
        limit_spec(key, _PASS_RATE, "Of the episodes that were tried, enough passed G0 (stop.gate_pass_min)."),
        limit_spec(
            key, _MATCH_RATIO, "In each episode, enough tracked bodies were restored (restore.match_ratio_min)."
        ),
    ]
    run = GateRun(G0_SPIKE, _show, checks=lambda results: _checks(key, results))

    @scope.gate_asset(G0_SPIKE, specs)
    def asset(context: dg.AssetExecutionContext, cluster: ClusterResource):
        yield from run_gate(context, scope, cluster, run)

    return asset


def _show(study: Study, line: Line) -> dict[str, Any]:
    checks = line.row.get("checks", [])
    rows = [{name: str(check[name]) for name in ("check", "passed", "value", "limit")} for check in checks]
    numbers = {check["check"]: check["value"] for check in checks if isinstance(check["value"], float)}
    contradicted = line.row.get("contradicted")
    return {**numbers, "checks": table(rows), **({"contradicted": contradicted} if contradicted else {})}


def _checks(key: dg.AssetKey, results: Results) -> Iterator[dg.AssetCheckResult]:
    yield _truth_is_supported(key, results)
    yield limit_check(key, _PASS_RATE, gate_pass_rate(results))
    yield limit_check(key, _MATCH_RATIO, lowest_match_ratio(results))


def _truth_is_supported(key: dg.AssetKey, results: Results) -> dg.AssetCheckResult:
    found: dict[str, str] = {}
    for episode, line in results.of(G0_SPIKE.name).items():
        found |= {f"{episode}.{query}": why for query, why in line.row.get("contradicted", {}).items()}
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=_SUPPORTED,
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(found)} queries are contradicted; their plans are invalid" if found else "",
        metadata=dict(sorted(found.items())[:50]),
    )
