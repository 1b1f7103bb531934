"""Whether an array task is over, and what of."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sbench_dag.cluster.slurm.client import (
    Client,
    Status,
    TaskKey,
    UnreachableError,
    is_held,
    is_live,
    is_stuck,
    waits_for_somebody,
)
from sbench_dag.cluster.slurm.job import Attempt, Job

log = logging.getLogger(__name__)

# not the items' fault: somebody, or the node
_OUTSIDE = ("CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "REVOKED")
POLLS_UNTIL_LOST = 3


@dataclass(frozen=True)
class Ended:
    """suspects: keys that it was at when it died of no outer cause; is_kill: it is known that it did die.

    is_broken: the worker could not begin, on this node.
    """

    cause: str
    suspects: frozenset[str] = frozenset()
    is_kill: bool = False
    is_broken: bool = False
    node: str = ""


class Verdicts:
    """Remembers since when a task looks over, because its last results may come late, and a requeued one comes back."""

    def __init__(self, client: Client, grace_s: float):
        self._client = client
        self._grace_s = grace_s
        self._since: dict[TaskKey, tuple[float, int]] = {}
        self._answers = 0
        self._has_accounting = True
        self._warned: set[tuple[str, str]] = set()
        self.news({})

    def news(self, states: Mapping[TaskKey, Status]) -> None:
        """A fresh answer of squeue."""
        self._states = states
        self._answers += 1
        self._accounts: dict[str, dict[TaskKey, Status]] = {}  # asked for once an answer, and only if need be

    def of(self, job: Job, index: int) -> Ended | None:
        """None while results may still come.

        Raises:
            UnreachableError: a task had to be cancelled, and Slurm does not answer.
        """
        key = (job.name, index)
        status = self._states.get(key)
        if status and (is_held(status) or waits_for_somebody(status)) and not is_stuck(status):
            self._warn(job, status)
        attempt = None
        if status and is_live(status):
            attempt = job.attempt(index) if status.state == "COMPLETING" else None
            if not (attempt and attempt.end):  # a node that does not come to an end does not keep a task that has
                self._since.pop(key, None)
                return None
        since, answers = self._since.setdefault(key, (time.monotonic(), self._answers - 1))
        if status and is_stuck(status):
            self._client.cancel_task(status.id)
            return Ended(f"stuck: {status.reason}")
        if time.monotonic() - since < self._grace_s:
            return None
        attempt = attempt or job.attempt(index)
        if status:
            return _ended(job, index, attempt, status)
        if attempt and attempt.end:
            return _ended(job, index, attempt, None)
        known = self._accounting(job).get(key)
        if known and not is_live(known):
            return _ended(job, index, attempt, known)
        if self._answers - answers < POLLS_UNTIL_LOST:
            return None
        return Ended("lost: neither squeue nor sacct knows it", _running(attempt))

    def _accounting(self, job: Job) -> dict[TaskKey, Status]:
        """What sacct knows of a job: nothing, where there is no accounting or it does not answer."""
        if job.name not in self._accounts and self._has_accounting and job.id:
            try:
                found = self._client.accounting({job.id: job.name})
            except UnreachableError as error:
                log.warning(f"sacct does not answer: {error}")
                found = {}
            self._has_accounting = found is not None
            self._accounts[job.name] = found or {}
        return self._accounts.get(job.name, {})

    def _warn(self, job: Job, status: Status) -> None:
        if (job.name, status.reason) in self._warned:
            return
        self._warned.add((job.name, status.reason))
        if is_held(status):
            log.warning(f"{status.id} is held ({status.reason}); `scontrol release {status.id}` lets it run")
        else:
            log.warning(f"{status.id} waits: {status.reason}")


def _ended(job: Job, index: int, attempt: Attempt | None, status: Status | None) -> Ended:
    state = status.state if status else ""
    seen = f"{state} ({status.reason})" if status and status.reason not in ("", "None") else state
    words = f": {job.last_words(index)}" if job.last_words(index) else ""
    if attempt is None:
        node = status.node if status else ""
        return Ended(f"{seen} before it began{words}", is_broken=state == "FAILED", node=node)
    if attempt.end == "done":
        return Ended(f"{seen or attempt.end}, but not all of its results came")
    if attempt.end:
        how = f" ({seen})" if seen else ""
        return Ended(f"{attempt.end} on {attempt.node}{how}", is_broken=attempt.end != "stopped", node=attempt.node)
    cause = f"{seen} on {attempt.node}{words}"
    return Ended(cause) if state in _OUTSIDE else Ended(cause, _running(attempt), is_kill=True)


def _running(attempt: Attempt | None) -> frozenset[str]:
    return frozenset(attempt.running) if attempt else frozenset()
