"""A success rate as a product: the target was reached, and what was reached was lifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sbench_dag.stats.bootstrap import RESAMPLES
from sbench_dag.stats.clustered import Interval, clustered


@dataclass(frozen=True)
class Share:
    """count of n with its 95 % interval, both None if n is 0."""

    count: int
    n: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Decomposition:
    """success = reached * lifted_given_reached, in counts, in each resample, and so in the values.

    resampled: (resamples, 3) in this order: reached, lifted_given_reached (NaN where nothing was reached), success.
    """

    reached: Share
    lifted_given_reached: Share
    success: Share
    n: int
    clusters: int
    resampled: np.ndarray


def decompose(reached: np.ndarray, lifted: np.ndarray, scoring: np.ndarray, clusters: np.ndarray) -> Decomposition:
    """reached, lifted: (n,) of 0 and 1; scoring: (n,) how each query is scored; clusters: (n,) names.

    ValueError if queries are scored in different ways, since success is then not the same event in all of them, or if
    something was lifted that was not reached.
    """
    return decompose_all(reached[:, None], lifted[:, None], scoring, clusters)[0]


def decompose_all(
    reached: np.ndarray,
    lifted: np.ndarray,
    scoring: np.ndarray,
    clusters: np.ndarray,
    resamples: int = RESAMPLES,
) -> list[Decomposition]:
    """Each column of reached and lifted, (n, columns), as `decompose` does it; from the same draws of clusters."""
    strata = sorted({str(name) for name in scoring})
    if len(strata) > 1:
        raise ValueError(
            f"scoring: {', '.join(strata)} are mixed, and a rate of success is the product of reached and lifted "
            "only where all queries are scored alike; decompose each by itself"
        )
    reached, lifted = np.asarray(reached) > 0, np.asarray(lifted) > 0
    if (unreached := int((lifted & ~reached).sum())) > 0:
        raise ValueError(f"lifted: {unreached} of {lifted.size} were lifted but not reached; count them as reached")
    columns = np.stack([reached, np.where(reached, lifted, np.nan), lifted], axis=2).astype(float)
    n, sources = reached.shape
    found = clustered(columns.reshape(n, 3 * sources), clusters, resamples)
    made = []
    for i in range(sources):
        mine = slice(3 * i, 3 * i + 3)
        shares = (
            _share(column, interval) for column, interval in zip(columns[:, i].T, found.intervals[mine], strict=True)
        )
        of_reached, of_lifted, of_success = shares
        made.append(Decomposition(of_reached, of_lifted, of_success, n, found.clusters, found.resampled[:, mine]))
    return made


def _share(column: np.ndarray, interval: Interval | None) -> Share:
    count, n = int(np.nansum(column)), int((~np.isnan(column)).sum())
    return Share(count, n, count / n if n else None, interval)
