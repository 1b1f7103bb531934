"""`sbench flip`: a sample of picks done again, and how many verdicts are others."""

from __future__ import annotations

import argparse
import json
import sys

HELP = "do a sample of picks again and count the verdicts that change"


def add(commands) -> None:
    parser = commands.add_parser("flip", help=HELP, description=f"{HELP}; docs/comparing.md")
    parser.add_argument("--study", help="needed only if there are several")
    parser.add_argument("--share", type=_share, default=0.05, help="of the picks with a result: 5%% (default) or 0.05")
    parser.add_argument("--seed", type=int, default=0, help="which picks are drawn; default: 0")
    parser.add_argument("--workers", type=int, default=0, help="processes; default: cluster.toml's, or one per core")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.cluster.config import load_cluster_config
    from sbench_dag.cluster.local import LocalCluster
    from sbench_dag.flips.flips import count_flips
    from sbench_dag.flips.repeat import run_repeat, steps
    from sbench_dag.flips.sample import draw, open_repeat
    from sbench_dag.reports.grid import Results
    from sbench_dag.reports.text import flip_text
    from sbench_dag.study import find_study

    results = Results(find_study(arguments.study))
    sample = draw(results, arguments.share, arguments.seed)
    repeat = open_repeat(results, sample)
    local = load_cluster_config().local
    cluster = LocalCluster(arguments.workers or local.workers, local.timeout_s)
    with tqdm(desc=f"{len(sample.plans)} picks again", total=steps(repeat), unit="gate", file=sys.stderr) as bar:
        run_repeat(repeat, cluster, bar.update)
    found = count_flips(results, repeat, sample)
    print(json.dumps(found, indent=1) if arguments.json else flip_text(found))
    return 0


def _share(text: str) -> float:
    """`5%` or `0.05`."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a share such as 5% or 0.05, more than 0 and at most 1")
    return share
