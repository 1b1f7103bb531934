"""`sbench rewards make-dataset`: a study's rollouts as labelled videos."""

from __future__ import annotations

import argparse
from pathlib import Path

from sbench_dag.study import find_study


def add(commands) -> None:
    text = "a study's rollouts as labelled videos, in RoboReward's layout; docs/reward-training.md"
    make = commands.add_parser("make-dataset", help=text, description=text)
    make.add_argument("--study", help="needed only if there are several")
    make.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    make.add_argument("--no-clipping", action="store_true", help="no videos that were cut")
    make.add_argument("--no-counterfactuals", action="store_true", help="no other instructions")
    make.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.rewards.card import counts_table
    from sbench_dag.rewards.labelled_videos import Kinds
    from sbench_dag.rewards.make_dataset import make_dataset

    kinds = Kinds(clipping=not arguments.no_clipping, counterfactuals=not arguments.no_counterfactuals)
    with tqdm(desc="episodes", unit="episode", delay=1.0) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        lines = make_dataset(find_study(arguments.study), arguments.out, kinds, progress)
    print(f"{arguments.out}\n\n{counts_table(lines)}")
    return 0
