"""How often the 95 % intervals of rates and differences hold the truth: `python -m benchmarks.coverage`.

Houses are made up, of 6 queries on average: all of the same size, or of 1, 2, 3, 5, 9 and 16 queries. How alike the
queries of a house are is the intraclass correlation (ICC): each house has a rate of its own, from a beta distribution,
or shares of queries that only one of two cells succeeds at, from a Dirichlet distribution. Prints docs/statistics.md's
tables; 1,000 studies for each number take some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import product
from unittest.mock import patch

import numpy as np

from sbench_dag.stats import few_clusters
from sbench_dag.stats.bootstrap import cluster_sums, interval
from sbench_dag.stats.clustered import MIN_CLUSTERS, clustered
from sbench_dag.stats.few_clusters import rate_interval, wilson_of
from sbench_dag.stats.paired import difference_intervals, mcnemar

CLUSTERS = (5, 10, 20, 30, 49, 50, 80, 200)
ICC = (0.0, 0.1, 0.3)
RATES = (0.01, 0.03, 0.1, 0.5, 0.9)
ONLY = ((0.15, 0.15), (0.2, 0.1), (0.1, 0.02), (0.01, 0.01))  # shares that only a, and only b, succeeds at
_SIZES = (1, 16, 2, 9, 3, 5)
_MEAN = 6
_RESAMPLES = 2000

Ends = list[tuple[float, float]]


def sizes_of(clusters: int, equal: bool) -> np.ndarray:
    return np.full(clusters, _MEAN) if equal else np.resize(_SIZES, clusters)


def draw_rates(rng: np.random.Generator, sizes: np.ndarray, rate: float, icc: float, studies: int) -> np.ndarray:
    """(queries, studies) of 0 and 1."""
    return _draw(rng, sizes, (rate, 1 - rate), icc, studies)[0]


def draw_differences(
    rng: np.random.Generator, sizes: np.ndarray, only: tuple[float, float], icc: float, studies: int
) -> np.ndarray:
    """(queries, studies) of -1, 0 and 1; only: the shares of queries that only a, and only b, succeeds at."""
    a, b, _ = _draw(rng, sizes, (*only, 1 - sum(only)), icc, studies)
    return a - b


def rate_ends(drawn: np.ndarray, sizes: np.ndarray, resamples: int = _RESAMPLES) -> Ends:
    """The interval of each study."""
    found = clustered(drawn, _names(sizes), resamples).intervals
    return [(each.low, each.high) for each in found if each is not None]


def difference_ends(drawn: np.ndarray, sizes: np.ndarray, resamples: int = _RESAMPLES) -> Ends:
    found = difference_intervals(drawn, _names(sizes), resamples=resamples)
    return [(each.low, each.high) for (each,) in found if each is not None]


def covered(ends: Ends, truth: float) -> float:
    """The share of intervals that hold the truth."""
    return float(np.mean([low - 1e-12 <= truth <= high + 1e-12 for low, high in ends]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="how many are drawn for each number")
    studies = parser.parse_args().studies
    rng = np.random.default_rng(0)

    def rates(sizes: np.ndarray, column: int, icc: float) -> float:
        return covered(rate_ends(draw_rates(rng, sizes, RATES[column], icc, studies), sizes), RATES[column])

    def differences(sizes: np.ndarray, column: int, icc: float) -> float:
        a, b = ONLY[column]
        return covered(difference_ends(draw_differences(rng, sizes, (a, b), icc, studies), sizes), a - b)

    print(*_by_clusters([f"rate {rate:g}" for rate in RATES], rates), sep="\n", end="\n\n")
    print(*_by_clusters([f"{100 * a:g} %, {100 * b:g} %" for a, b in ONLY], differences), sep="\n", end="\n\n")
    print(*_alternatives(rng, studies), sep="\n", end="\n\n")
    print(*_false_alarms(np.random.default_rng(0), studies), sep="\n")


def _by_clusters(columns: list[str], measure: Callable[[np.ndarray, int, float], float]) -> Iterator[str]:
    yield _row("houses", "sizes", *columns)
    yield _row(*["---"] * (len(columns) + 2))
    for clusters, equal in product(CLUSTERS, (True, False)):
        cells = [
            " ".join(f"{100 * measure(sizes_of(clusters, equal), column, icc):.1f}" for icc in ICC)
            for column in range(len(columns))
        ]
        yield _row(str(clusters), "equal" if equal else "unequal", *cells)


def _alternatives(rng: np.random.Generator, studies: int) -> Iterator[str]:
    """The least coverage among all ICC and sizes of houses: with few of them / with many."""
    worst: dict[str, np.ndarray] = {}
    for (column, rate), clusters, equal, icc in product(enumerate(RATES), CLUSTERS, (True, False), ICC):
        sizes = sizes_of(clusters, equal)
        drawn = draw_rates(rng, sizes, rate, icc, studies)
        for name, ends in _ways(drawn, sizes).items():
            least = worst.setdefault(name, np.ones((len(RATES), 2)))[column]
            many = int(clusters >= MIN_CLUSTERS)
            least[many] = min(least[many], covered(ends, rate))
    yield _row("interval", *(f"rate {rate:g}" for rate in RATES))
    yield _row(*["---"] * (len(RATES) + 1))
    for name, least in worst.items():
        yield _row(name, *(f"{100 * few:.1f} / {100 * many:.1f}" for few, many in least))


def _false_alarms(rng: np.random.Generator, studies: int) -> Iterator[str]:
    """How often McNemar's p is at most .05 though 50 houses have no difference: 15 % of queries only a, 15 % only b."""
    yield _row("sizes", *(f"ICC {icc:g}" for icc in ICC))
    yield _row(*["---"] * (len(ICC) + 1))
    for equal in (True, False):
        cells = []
        for icc in ICC:
            drawn = draw_differences(rng, sizes_of(50, equal), (0.15, 0.15), icc, studies)
            p = [mcnemar(int((study > 0).sum()), int((study < 0).sum())) for study in drawn.T]
            cells.append(f"{100 * np.mean(np.array(p) <= 0.05):.1f}")
        yield _row("equal" if equal else "unequal", *cells)


def _ways(drawn: np.ndarray, sizes: np.ndarray) -> dict[str, Ends]:
    found = clustered(drawn, _names(sizes), _RESAMPLES)
    sums, counts = cluster_sums(drawn, _names(sizes), len(sizes))
    columns = list(zip(sums.T, counts.T, strict=True))
    ways = {
        "Wilson, as if queries were independent": [wilson_of(rate, len(drawn)) for rate in found.rates],
        "percentiles of the cluster bootstrap": [interval(column) or (np.nan, np.nan) for column in found.resampled.T],
    }
    with patch.object(few_clusters, "_ADDED", 1e-9):
        ways["effective n, nothing added"] = [rate_interval(*column) for column in columns]
    ways["effective n"] = [rate_interval(*column) for column in columns]
    ways["as used"] = [(each.low, each.high) for each in found.intervals if each is not None]
    return ways


def _draw(
    rng: np.random.Generator, sizes: np.ndarray, shares: tuple[float, ...], icc: float, studies: int
) -> np.ndarray:
    """(shares, queries, studies): 1 for the share that a query fell into, 0 for the others."""
    of_house = np.broadcast_to(shares, (len(sizes), studies, len(shares)))
    if icc > 0:
        gammas = rng.gamma(of_house * (1 / icc - 1)) + np.finfo(float).tiny
        of_house = gammas / gammas.sum(axis=-1, keepdims=True)
    ends = of_house.cumsum(axis=-1)[..., :-1].repeat(sizes, axis=0)
    fell = (rng.random(ends.shape[:2])[..., None] > ends).sum(axis=-1)
    return (fell == np.arange(len(shares))[:, None, None]).astype(float)


def _names(sizes: np.ndarray) -> np.ndarray:
    return np.arange(len(sizes)).repeat(sizes)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
