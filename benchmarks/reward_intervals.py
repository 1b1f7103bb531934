"""How long do a leaderboard's intervals take? `python -m benchmarks.reward_intervals [--models N] [--resamples N]`.

The labels are those of RoboRewardBench (2,831 instances, 23 subsets), from the test suite. Scores are random, since no
time depends on them. RoboArena's instances are clusters of their own, the others come about 1.8 to a cluster.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from sbench_dag.reports.text import table
from sbench_dag.rewards.leaderboard import leaderboard
from sbench_dag.rewards.metrics import agreement
from sbench_dag.rewards.predictions import ModelScores, Predictions
from sbench_dag.rewards.score import Status
from sbench_dag.stats.bootstrap import cluster_bootstrap
from tests.rewards.paper.tables import label_arrays

INSTANCES_PER_CLUSTER = 1.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=25)
    parser.add_argument("--resamples", type=int, default=10_000)
    arguments = parser.parse_args()
    predictions = _random(arguments.models)
    errors = np.stack([np.abs(m.values - predictions.labels) for m in predictions.models.values()], axis=1)
    some = np.where(np.random.default_rng(1).random(errors.shape) < 0.02, np.nan, errors)
    strata, clusters, n = predictions.subsets, predictions.clusters, arguments.resamples
    first = next(iter(predictions.models.values()))
    rows = [
        ("cluster bootstrap", _time(lambda: cluster_bootstrap(errors, strata, clusters, n))),
        ("... 2 % of the scores missing, left out", _time(lambda: cluster_bootstrap(some, strata, clusters, n))),
        ("... every instance a cluster", _time(lambda: cluster_bootstrap(errors, strata, predictions.ids, n))),
        ("agreement of one model", _time(lambda: agreement(first.values, predictions.labels, strata, clusters))),
        ("the whole leaderboard", _time(lambda: leaderboard(predictions, n))),
    ]
    print(f"{n:,} resamples x {predictions.n:,} instances x {arguments.models} models")
    print(table(("what", "seconds"), [(what, f"{seconds:.2f}") for what, seconds in rows]))


def _random(models: int) -> Predictions:
    subsets, labels = label_arrays()
    rng = np.random.default_rng(0)
    n = len(labels)
    clusters = np.where(subsets == "RoboArena", np.arange(n), (np.arange(n) / INSTANCES_PER_CLUSTER).astype(int))
    status = np.full(n, Status.SCORED, dtype=object)
    scores = {f"model {i}": ModelScores(rng.integers(1, 6, n).astype(float), status) for i in range(models)}
    return Predictions(np.arange(n).astype(str), subsets, clusters.astype(str), labels, scores)


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
