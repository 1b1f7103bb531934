"""The simulator's labels of Stage C's rollouts as an asset: one partition per pick.

Where study.toml names a benchmark, `reward_bench.py` has the same models score that; otherwise there is no such asset.
"""

from typing import Any

import dagster as dg

from assets.events import complete_check
from assets.gate import GateRun, run_gate
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.rewards.gate import ROLLOUT_REWARDS
from sbench_dag.study import Study
from sbench_dag.work.store import Line


def rollout_rewards(scope: Scope) -> dg.AssetsDefinition:
    run = GateRun(ROLLOUT_REWARDS, _show)

    @scope.gate_asset(ROLLOUT_REWARDS, [complete_check(scope.key(ROLLOUT_REWARDS.name))])
    def asset(context: dg.AssetExecutionContext, cluster: ClusterResource):
        yield from run_gate(context, scope, cluster, run)

    return asset


def _show(study: Study, line: Line) -> dict[str, Any]:
    row = line.row
    if "label" not in row:
        return {}
    video = {"video": dg.MetadataValue.path(str(study.folder / row["video"]["file"]))} if row["video"] else {}
    scores = {f"score of {name}": score["value"] or score["status"] for name, score in row["scores"].items()}
    return {"label": row["label"], **scores, **video}
