"""`sbench rewards fit-clip-length`: how much the lengths of a data set's videos tell of their labels."""

from __future__ import annotations

import argparse

from sbench_dag.study import home


def add(commands) -> None:
    text = (
        "fit the clip-length rule to a labelled split and print its table for reward_models.toml; docs/reward-models.md"
    )
    parser = commands.add_parser("fit-clip-length", help=text, description=text)
    parser.add_argument("--data", required=True, metavar="FOLDER|OWNER/NAME@COMMIT")
    parser.add_argument("--split", default="train", help="default: train; what is fitted on the test split is no score")
    parser.add_argument("--threads", type=int, default=4, help="that decode; default: 4")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.errors import SetupError
    from sbench_dag.rewards.ahead import map_ahead
    from sbench_dag.rewards.bench.source import open_bench
    from sbench_dag.rewards.models.clip_length import duration_s, fit_thresholds
    from sbench_dag.rewards.models.settings import FILE

    examples = open_bench(arguments.data, arguments.split).examples
    videos = [labelled.example.video for labelled in examples]
    found = map_ahead(duration_s, tqdm(videos, unit="video"), arguments.threads, 4 * arguments.threads)
    known = [(length, labelled.label) for length, labelled in zip(found, examples, strict=True) if length is not None]
    if not known:
        raise SetupError(f"{arguments.data}: none of its {len(videos)} videos can be decoded")
    thresholds = fit_thresholds([length for length, _ in known], [label for _, label in known])
    print(
        f"# fitted on {len(known)} of {len(videos)} videos of {arguments.data}, {arguments.split}; for {home() / FILE}"
    )
    print(f'[clip-length]\nkind = "clip-length"\nthresholds_s = [{", ".join(f"{t:.4g}" for t in thresholds)}]')
    return 0
