"""A benchmark scored by a study's reward models as an asset: one partition per model."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import dagster as dg

from assets.code_version import code_version
from assets.events import Done, Undone, complete_check, materialize, plain_errors, requested_partitions
from assets.gate import GateRun, finished_items
from assets.grouping import one
from assets.items import item_metadata
from assets.order import in_order
from assets.provenance import last_versions
from assets.scope import Scope
from assets.show import interval
from assets.started_by import is_cancelled
from assets.tags import begin
from resources.cluster import ClusterResource
from sbench_dag.pipeline import Fingerprints
from sbench_dag.rewards.bench.gate import REWARD_BENCH
from sbench_dag.study import Study
from sbench_dag.work.store import Line, Store

_GONE = "study.toml no longer names this model, or no benchmark; reload the code location"


def reward_bench(scope: Scope) -> dg.AssetsDefinition:
    key = scope.key(REWARD_BENCH.name)

    @dg.asset(
        key=key,
        group_name=scope.group_of(REWARD_BENCH.name),
        description=REWARD_BENCH.description,
        partitions_def=dg.StaticPartitionsDefinition(scope.study.rewards.benchmarked),
        backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=1),
        code_version=code_version(scope.fingerprints, REWARD_BENCH.name),
        check_specs=[complete_check(key)],
        metadata={**scope.about, "benchmark": scope.study.rewards.bench, "split": scope.study.rewards.bench_split},
        output_required=False,
    )
    def asset(context: dg.AssetExecutionContext, cluster: ClusterResource):
        with plain_errors():
            study, partitions = begin(context, scope), requested_partitions(context)
            fingerprints = Fingerprints(study)
            finished = in_order(_scored(context, cluster, fingerprints, partitions), partitions)
            yield from materialize(context, code_version(fingerprints, REWARD_BENCH.name), [], finished)

    return asset


def models_to_score(instance: dg.DagsterInstance, scope: Scope) -> list[str]:
    """Those without a result of today's benchmark and identity, or whose result Dagster has not been told.

    Raises:
        SbenchError: the benchmark can't be read.
    """
    study = scope.study
    wanted = Fingerprints(study).wanted(REWARD_BENCH)
    stored = Store(study.results).results(REWARD_BENCH.name, wanted)
    done = {name for name, line in stored.items() if line.outcome.is_result}
    told = last_versions(instance, scope.key(REWARD_BENCH.name))
    return [name for name, version in wanted.items() if name not in done or told.get(name) != version]


def _scored(
    context: dg.AssetExecutionContext, cluster: ClusterResource, fingerprints: Fingerprints, names: Sequence[str]
) -> Iterator[Done | Undone | None]:
    study = fingerprints.study
    there = [name for name in names if name in study.rewards.benchmarked]
    yield from (Undone(name, "not_run", "unknown", _GONE) for name in names if name not in there)
    run_tasks = partial(cluster.run, is_cancelled=lambda: is_cancelled(context.instance, context.run_id))
    shown = partial(item_metadata, study, _show)
    for item in finished_items(fingerprints, run_tasks, GateRun(REWARD_BENCH, _show), there, {}):
        yield item and one(item, shown)


def _show(study: Study, line: Line) -> dict[str, Any]:
    row = line.row
    if "rows" not in row:
        return {}
    [mine] = [found for found in row["rows"] if found["is_model"]]
    return {
        "MAE": round(mine["mae"], 4),
        "MAE, 95 %": interval(mine["interval"]),
        **({} if mine["skill"] is None else {"skill": round(mine["skill"], 4)}),
        "n": row["n"],
        "clusters": row["clusters"],
        "unparseable": row["unparseable"],
        "missing": row["missing"],
        "identity": row["identity"],
        "file": dg.MetadataValue.path(str(study.folder / row["file"])),
        "leaderboard": dg.MetadataValue.md(_leaderboard(row["rows"])),
    }


def _leaderboard(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| | MAE, group-wise | 95 % | skill |", "| --- | --- | --- | --- |"]
    for row in rows:
        name = f"**{row['name']}**" if row["is_model"] else row["name"]
        skill = "" if row["skill"] is None else f"{row['skill']:.2f}"
        lines.append(f"| {name} | {row['mae']:.3f} | {interval(row['interval'])} | {skill} |")
    return "\n".join(lines)
