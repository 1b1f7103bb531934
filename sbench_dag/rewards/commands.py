"""`sbench rewards ...`: reward models against labels."""

from __future__ import annotations

import argparse


def add_rewards_commands(parser: argparse.ArgumentParser) -> None:
    """Each command has a function of its own below that adds it."""
    parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
