"""The stopping gates G1 and G2 as asset checks."""

from __future__ import annotations

import dagster as dg

from sbench_dag.stops import Decision, State


def stop_check_spec(asset: dg.AssetKey, name: str, description: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(name, asset=asset, description=description)


def stop_check(asset: dg.AssetKey, name: str, decision: Decision) -> dg.AssetCheckResult:
    """A gate that is not decided yet warns; one that failed is an error."""
    failed = decision.state is State.FAILED
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=decision.passed,
        severity=dg.AssetCheckSeverity.ERROR if failed else dg.AssetCheckSeverity.WARN,
        description=decision.text,
        metadata={"state": str(decision.state), "plans": len(decision.plans)},
    )
