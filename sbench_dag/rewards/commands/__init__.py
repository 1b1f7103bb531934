"""`sbench rewards ...`: reward models against labels. Each command has a file and imports what it needs to run."""

from __future__ import annotations

import argparse

from sbench_dag.rewards.commands import ablation, bench, fit_clip_length, make_dataset, table, train


def add_rewards_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    table.add(commands)
    bench.add(commands)
    make_dataset.add(commands)
    train.add(commands)
    ablation.add(commands)
    fit_clip_length.add(commands)
