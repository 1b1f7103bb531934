"""A small reward model trained on a study's rollouts as an asset. Nothing but a hand launches it."""

import os
from contextlib import closing
from functools import partial
from typing import Any

import dagster as dg
from pydantic import Field

from assets.code_version import code_version
from assets.events import plain_errors
from assets.scope import Scope
from assets.show import table
from assets.started_by import is_cancelled
from assets.tags import begin
from resources.cluster import ClusterResource
from sbench_dag.errors import SetupError
from sbench_dag.pipeline import Fingerprints
from sbench_dag.rewards.small.gate import REWARD_TRAINING, training_item
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.study import Study, home
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line

_DEFAULT = Settings()


class RewardTrainingConfig(dg.Config):
    """What can be chosen of the model and its training."""

    epochs: int = Field(default=_DEFAULT.epochs, ge=1, description="At most; it stops when validation gets no better.")
    size: int = Field(default=_DEFAULT.size, description="Of its frames, in pixels: a multiple of 16.")
    width: int = Field(default=_DEFAULT.width, description="Channels of its first layer: a multiple of 8; on a GPU 32.")
    seed: int = Field(default=_DEFAULT.seed, ge=0, description="Of the weights and the order of the videos.")


def reward_training(scope: Scope) -> dg.AssetsDefinition:
    @dg.asset(
        key=scope.key(REWARD_TRAINING.name),
        group_name=scope.group_of(REWARD_TRAINING.name),
        description=REWARD_TRAINING.description,
        code_version=code_version(scope.fingerprints, REWARD_TRAINING.name),
        deps=[scope.key("stage_c")],
        metadata=scope.about,
    )
    def asset(
        context: dg.AssetExecutionContext, config: RewardTrainingConfig, cluster: ClusterResource
    ) -> dg.MaterializeResult:
        with plain_errors():
            study = begin(context, scope)
            line = _train(context, study, cluster, config)
            if not line.outcome.is_result:
                result = line.result
                raise dg.Failure(f"{result.outcome}.{result.reason}: {result.message}", allow_retries=False)
            return dg.MaterializeResult(metadata=_show(study, line), data_version=dg.DataVersion(line.row["revision"]))

    return asset


def _train(
    context: dg.AssetExecutionContext, study: Study, cluster: ClusterResource, config: RewardTrainingConfig
) -> Line:
    try:
        settings = Settings(epochs=config.epochs, size=config.size, width=config.width, seed=config.seed)
    except ValueError as error:
        raise SetupError(f"config.{error}") from None
    item = training_item(settings, context.run.run_id)
    task = Task(item, Fingerprints(study).of(REWARD_TRAINING.name, item.key))
    cancelled = partial(is_cancelled, context.instance, context.run.run_id)
    with closing(cluster.run(study.folder, REWARD_TRAINING.name, [task], is_cancelled=cancelled)) as lines:
        for line in lines:
            if line is not None:
                return line
    raise SetupError("the cluster said nothing about the training")


def _show(study: Study, line: Line) -> dict[str, Any]:
    row, timings = line.row, line.result.timings
    folder = study.folder / row["folder"]
    return {
        "test MAE": round(row["test_mae"], 4),
        f"test MAE, always {row['constant']}": round(row["constant_mae"], 4),
        "test MAE, clip length alone": round(row["clip_length_mae"], 4),
        "val MAE": round(row["val_mae"], 4),
        "epoch": row["epoch"],
        "revision": row["revision"],
        "videos": table(row["videos"]),
        "weights": dg.MetadataValue.path(str(folder)),
        "to use it": dg.MetadataValue.md(_table(f"small-{study.name}", os.path.relpath(folder, home()))),
        "settings": line.key,
        **timings,
        "host": line.host,
    }


def _table(name: str, weights: str) -> str:
    """Of a name that no built-in model has, or all studies would score with it."""
    return (
        "In `$SBENCH_HOME/reward_models.toml`; then name it in `[rewards] models` of a study.toml.\n\n"
        f'```toml\n["{name}"]\nkind = "small"\nweights = "{weights}"\n```'
    )
