"""What a trained model is worth: its errors on the test split, beside what any model has to beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from sbench_dag.rewards.ablation import by_length
from sbench_dag.rewards.metrics import best_constant
from sbench_dag.rewards.small.checkpoint import save
from sbench_dag.rewards.small.data import Split
from sbench_dag.rewards.small.train import Trained, group_mae, predict


@dataclass(frozen=True)
class Tested:
    """Group-wise MAEs: on val of the epoch that was kept, on test of the model.

    To be beaten on test: the constant that is best there, and the rule that knows a clip's length alone.
    """

    revision: str
    epoch: int
    val_mae: float
    test_mae: float
    constant: int
    constant_mae: float
    clip_length_mae: float


def save_tested(folder: Path, trained: Trained, splits: Mapping[str, Split], device: torch.device) -> Tested:
    """Writes the model, and says what it is worth. splits: train, val, test."""
    learn, test = splits["train"], splits["test"]
    mae = group_mae(predict(trained.network, trained.words, test, device), test)
    about = {"videos": len(learn), "clusters": len(set(learn.clusters)), "subsets": sorted(set(learn.subsets.tolist()))}
    revision = save(folder, trained, {**about, "test_mae": mae, "test_videos": len(test)})
    constant, errors = best_constant(test.labels, test.subsets)
    return Tested(
        revision,
        trained.epoch,
        trained.val_mae,
        mae,
        constant,
        errors.group_wise or 0.0,
        group_mae(by_length(learn, test), test),
    )
