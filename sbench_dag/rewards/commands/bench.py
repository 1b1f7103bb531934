"""`sbench rewards bench`: a reward model's scores of a benchmark."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sbench_dag.errors import SetupError
from sbench_dag.rewards.bench.names import file_name, scores_file
from sbench_dag.study import home

if TYPE_CHECKING:
    from sbench_dag.rewards.example import LabelledExample
    from sbench_dag.rewards.score import Score


def add(commands) -> None:
    text = "score a benchmark's videos with a reward model, keep the scores and print its row; docs/reward-models.md"
    parser = commands.add_parser("bench", help=text, description=text)
    parser.add_argument("--model", required=True, metavar="NAME[@COMMIT]", help="built in, or of reward_models.toml")
    parser.add_argument("--data", required=True, metavar="FOLDER|OWNER/NAME@COMMIT")
    parser.add_argument("--split", default="test", help="default: test")
    parser.add_argument("--limit", type=int, metavar="N", help="only N examples, spread evenly over the benchmark")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="default: in $SBENCH_HOME/reward_scores")
    parser.add_argument("--resamples", type=int, default=10_000, help="default: 10,000")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.reports.leaderboard import leaderboard_text
    from sbench_dag.rewards.bench.scoring import score_into
    from sbench_dag.rewards.bench.source import open_bench
    from sbench_dag.rewards.leaderboard import leaderboard
    from sbench_dag.rewards.models.base import identity_hash
    from sbench_dag.rewards.models.registry import reward_model
    from sbench_dag.rewards.predictions import gather
    from sbench_dag.rewards.score import Status

    model = reward_model(arguments.model, home(), look_up=True)
    name = str(model.identity["model"])
    data = open_bench(arguments.data, arguments.split)
    chosen = _spread(data.examples, arguments.limit)
    out = arguments.out or _default_file(data.name, name, identity_hash(model))
    counts = dict.fromkeys(Status, 0)
    with tqdm(total=len(chosen), desc=name, unit="video") as bar:

        def told(score: Score, before: bool) -> None:
            counts[score.status] += 1
            if before:
                bar.initial += 1
            bar.set_postfix_str(", ".join(f"{count} {status}" for status, count in counts.items()), refresh=False)
            bar.update()

        scores = score_into(out, name, model, [labelled.example for labelled in chosen], told)
    print(leaderboard_text(leaderboard(gather(chosen, {name: scores}), arguments.resamples), data.name))
    if len(chosen) < len(data.examples):
        print(f"sbench: {len(chosen):,} of {len(data.examples):,} examples", file=sys.stderr)
    for why, count in _reasons(scores.values()):
        print(f"sbench: {count} x no score: {why}", file=sys.stderr)
    print(out)
    return 0


def _spread(examples: Sequence[LabelledExample], limit: int | None) -> list[LabelledExample]:
    if limit is None or limit >= len(examples):
        return list(examples)
    if limit < 1:
        raise SetupError(f"--limit {limit}: must be at least 1")
    return [examples[i * len(examples) // limit] for i in range(limit)]


def _default_file(data: str, name: str, identity: str) -> Path:
    """Scores of other settings get a file of their own."""
    return scores_file(home() / "reward_scores" / file_name(data), name, identity)


def _reasons(scores: Iterable[Score], shown: int = 5) -> list[tuple[str, int]]:
    """Why there is no score, the most frequent reasons first."""
    whys = Counter(f"{score.status}: {score.why}" for score in scores if score.why)
    return whys.most_common(shown)
