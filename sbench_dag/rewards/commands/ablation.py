"""`sbench rewards ablation`: what the negatives are worth."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from sbench_dag.rewards.commands.training import add_training_arguments, load, settings_of


def add(commands) -> None:
    text = "the small model trained with all negatives, with some and with none; docs/reward-training.md"
    ablation = commands.add_parser("ablation", help=text, description=text)
    add_training_arguments(ablation)
    ablation.add_argument("--out", type=Path, metavar="FILE.json", help="default: ablation.json beside the data")
    ablation.add_argument("--seeds", type=int, default=3, metavar="N", help="so many trainings of each, default 3")
    ablation.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.files import write_whole
    from sbench_dag.rewards.ablation import ablate, ablation_table
    from sbench_dag.rewards.small.judge import choose_device

    settings = settings_of(arguments, seed=0)
    splits, seeds = load(arguments.data, settings.size), range(arguments.seeds)
    found = ablate(splits, settings, seeds, choose_device(arguments.device), tqdm.write)
    out = arguments.out or arguments.data / "ablation.json"
    write_whole(out, json.dumps(asdict(found), indent=1) + "\n")
    print(f"{ablation_table(found)}\n\n{out}")
    return 0
