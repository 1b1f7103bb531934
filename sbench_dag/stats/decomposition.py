"""A success rate as a product: the target was reached, and what was reached was lifted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    strata = sorted({str(name) for name in scoring})
    if len(strata) > 1:
        raise ValueError(
            f"scoring: {', '.join(strata)} are mixed, and a rate of success is the product of reached and lifted "
            "only where all queries are scored alike; decompose each by itself"
        )
    reached, lifted = np.asarray(reached) > 0, np.asarray(lifted) > 0
    if (unreached := int((lifted & ~reached).sum())) > 0:
        raise ValueError(
            f"lifted: {unreached} of {len(lifted)} queries were lifted but not reached; count them as reached"
        )
    columns = np.stack([reached, np.where(reached, lifted, np.nan), lifted], axis=1).astype(float)
    found = clustered(columns, clusters)
    of_reached, of_lifted, of_success = (
        _share(column, interval) for column, interval in zip(columns.T, found.intervals, strict=True)
    )
    return Decomposition(of_reached, of_lifted, of_success, len(reached), found.clusters, found.resampled)


def _share(column: np.ndarray, interval: Interval | None) -> Share:
    count, n = int(np.nansum(column)), int((~np.isnan(column)).sum())
    return Share(count, n, count / n if n else None, interval)
