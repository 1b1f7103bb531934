"""`sbench rewards table`: the leaderboard of stored scores."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sbench_dag.rewards.bench.data import BenchData
    from sbench_dag.rewards.score import Score


def add(commands) -> None:
    text = "a leaderboard of stored scores, with intervals and baselines; docs/reward-metrics.md"
    parser = commands.add_parser("table", help=text, description=text)
    parser.add_argument("--study", help="its rollouts and the simulator's labels; needed only if there are several")
    parser.add_argument("--data", metavar="FOLDER|OWNER/NAME@COMMIT", help="a benchmark instead of a study")
    parser.add_argument("--split", default="test", help="default: test")
    parser.add_argument(
        "--predictions",
        nargs="+",
        default=(),
        metavar="[MODEL=]FILE",
        help="more models: .csv, .jsonl, or a folder of HELM runs",
    )
    parser.add_argument("--resamples", type=int, default=10_000, help="default: 10,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.leaderboard import leaderboard_text
    from sbench_dag.rewards.bench.stored import read_all
    from sbench_dag.rewards.leaderboard import leaderboard
    from sbench_dag.rewards.predictions import gather

    data, own = _labelled(arguments)
    stored = read_all(arguments.predictions, [labelled.example.id for labelled in data.examples])
    board = leaderboard(gather(data.examples, {**own, **stored.models}), arguments.resamples, arguments.seed)
    if arguments.json:
        print(json.dumps({"data": data.name, "problems": stored.problems, **board.as_json()}, indent=1))
    else:
        print(leaderboard_text(board, data.name))
    if data.missing:
        gone = f"{len(data.missing)} of {board.n} videos are not there, e.g. {data.missing[0]}"
        print(f"sbench: {gone}", file=sys.stderr)
    for problem in stored.problems:
        print(f"sbench: {problem}", file=sys.stderr)
    return 0


def _labelled(arguments: argparse.Namespace) -> tuple[BenchData, dict[str, dict[str, Score]]]:
    """The examples, and the scores that a study has of them."""
    from sbench_dag.reports.grid import Results
    from sbench_dag.rewards.bench.source import open_bench
    from sbench_dag.rewards.rollouts import rollout_scores, rollouts
    from sbench_dag.study import find_study

    if arguments.data:
        return open_bench(arguments.data, arguments.split, videos=False), {}
    results = Results(find_study(arguments.study))
    return rollouts(results), rollout_scores(results)
