"""What a gate works on and a cluster runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sbench_dag.outcomes import Outcome, Reason


@dataclass(frozen=True)
class WorkItem:
    """One partition's work.

    key: the partition key.
    group: items of one group share what is dear to build (a scene), so they run one after the other.
    cost: expected seconds, for balancing shards.
    batch: how many of its group a worker gets at a time.
    timeout_s: seconds that it may take, where that is more than what the cluster allows each item.
    """

    key: str
    group: str
    cost: float = 1.0
    batch: int = 1
    timeout_s: float = 0.0


@dataclass(frozen=True)
class Task:
    """One item and the fingerprint that its result will have."""

    item: WorkItem
    fingerprint: str


@dataclass(frozen=True)
class Result:
    """What a gate says about one item.

    row: JSON-serialisable and the same whatever the worker; what varies from run to run is in `timings`.
    """

    outcome: Outcome
    reason: Reason | None = None
    message: str = ""
    row: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
