"""`sbench rewards train`: the small model, on what make-dataset wrote."""

from __future__ import annotations

import argparse
from pathlib import Path

from sbench_dag.rewards.commands.training import add_training_arguments, load, settings_of


def add(commands) -> None:
    text = "a small reward model of our own, on what make-dataset wrote; docs/reward-training.md"
    train = commands.add_parser("train", help=text, description=text)
    add_training_arguments(train)
    train.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the weights go")
    train.add_argument("--seed", type=int, default=0)
    train.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.rewards.small.checkpoint import save
    from sbench_dag.rewards.small.judge import choose_device
    from sbench_dag.rewards.small.train import Epoch, group_mae, predict, train

    settings, device = settings_of(arguments, arguments.seed), choose_device(arguments.device)
    learn, validate, test = (split.to(device) for split in load(arguments.data, settings.size).values())
    with tqdm(desc="epochs", unit="epoch", total=settings.epochs, delay=1.0) as bar:

        def progress(epoch: Epoch) -> None:
            bar.set_postfix(val_mae=f"{epoch.val_mae:.3f}")
            bar.update()

        trained = train(learn, validate, settings, device, progress)
    mae = group_mae(predict(trained.network, trained.words, test, device), test)
    about = {"videos": len(learn), "clusters": len(set(learn.clusters)), "subsets": sorted(set(learn.subsets.tolist()))}
    revision = save(arguments.out, trained, {**about, "test_mae": mae, "test_videos": len(test)})
    print(f"{arguments.out}: revision {revision}, of epoch {trained.epoch}")
    print(f"group-wise MAE {trained.val_mae:.3f} on val ({len(validate)}), {mae:.3f} on test ({len(test)})")
    return 0
