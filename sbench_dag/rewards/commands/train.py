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

    from sbench_dag.rewards.small.judge import choose_device
    from sbench_dag.rewards.small.train import Epoch, train
    from sbench_dag.rewards.small.trained import save_tested

    settings, device = settings_of(arguments, arguments.seed), choose_device(arguments.device)
    splits = {name: split.to(device) for name, split in load(arguments.data, settings.size).items()}
    with tqdm(desc="epochs", unit="epoch", total=settings.epochs, delay=1.0) as bar:

        def progress(epoch: Epoch) -> None:
            bar.set_postfix(val_mae=f"{epoch.val_mae:.3f}")
            bar.update()

        trained = train(splits["train"], splits["val"], settings, device, progress)
    found = save_tested(arguments.out, trained, splits, device)
    print(f"{arguments.out}: revision {found.revision}, of epoch {found.epoch}")
    print(
        f"group-wise MAE {found.val_mae:.3f} on val ({len(splits['val'])}), "
        f"{found.test_mae:.3f} on test ({len(splits['test'])})"
    )
    print(f"to beat on test: always {found.constant} {found.constant_mae:.3f}, clip length {found.clip_length_mae:.3f}")
    return 0
