"""What the commands that train have in common."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbench_dag.rewards.small.data import Split
    from sbench_dag.rewards.small.settings import Settings


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--size", type=int, help="of a frame, in pixels")
    parser.add_argument("--width", type=int, help="channels of the first layer")
    parser.add_argument("--epochs", type=int, help="at most")
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda")


def settings_of(arguments: argparse.Namespace, seed: int) -> Settings:
    from sbench_dag.rewards.small.settings import Settings

    given = {name: getattr(arguments, name) for name in ("size", "width", "epochs")}
    return Settings(seed=seed, **{name: value for name, value in given.items() if value is not None})


def load(folder: Path, size: int) -> dict[str, Split]:
    """train, val, test, in this order."""
    from tqdm import tqdm

    from sbench_dag.rewards.small.data import load_split

    splits = {}
    for name in ("train", "val", "test"):
        with tqdm(desc=f"videos of {name}", unit="video", delay=1.0) as bar:

            def progress(done: int, total: int, bar: tqdm = bar) -> None:
                bar.total = total
                bar.update(done - bar.n)

            splits[name] = load_split(folder, name, size, progress=progress)
    return splits
