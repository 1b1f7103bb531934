"""Limits as asset checks: the stopping gates G1 and G2, and those that stop nothing."""

from __future__ import annotations

import dagster as dg

from sbench_dag.limits import Finding
from sbench_dag.stops import Decision, State


def limit_spec(asset: dg.AssetKey, name: str, description: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(name, asset=asset, description=description)


def limit_check(asset: dg.AssetKey, name: str, found: Decision | Finding) -> dg.AssetCheckResult:
    """One that is not decided yet warns; one that was not kept is an error."""
    failed = found.state is State.FAILED
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=name,
        passed=found.state is State.PASSED,
        severity=dg.AssetCheckSeverity.ERROR if failed else dg.AssetCheckSeverity.WARN,
        description=found.text,
        metadata={
            "state": str(found.state),
            **({} if found.value is None else {"value": round(found.value, 4)}),
            "limit": found.limit,
            "n": found.n,
        },
    )
