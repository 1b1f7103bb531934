"""What the open jobs of a study are doing, for people."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from sbench_dag.cluster.slurm.client import Client, Status, TaskKey, UnreachableError
from sbench_dag.cluster.slurm.job import Job, open_jobs
from sbench_dag.study import Study
from sbench_dag.work.store import Store


@dataclass(frozen=True)
class ShardStatus:
    """One array task. waited_s, running_s: None before it began. left_s: expected, from what it has done so far."""

    job: str
    gate: str
    id: str
    state: str
    reason: str
    node: str
    done: int
    total: int
    waited_s: float | None
    running_s: float | None
    left_s: float | None
    log: str

    def as_json(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class JobsStatus:
    """error: why Slurm could not be asked; states are unknown then."""

    shards: list[ShardStatus]
    error: str = ""


def jobs_status(study: Study, client: Client) -> JobsStatus:
    """Every shard of every open job that is not elsewhere by now."""
    jobs = open_jobs(study.jobs)
    states: dict[TaskKey, Status] = {}
    error = ""
    try:
        states = client.queue([job.name for job in jobs]) if jobs else {}
    except UnreachableError as unreachable:
        error = str(unreachable)
    store = Store(study.results)
    shards = [shard for job in jobs for shard in _shards(job, store, states, bool(error))]
    return JobsStatus(shards, error)


def _shards(job: Job, store: Store, states: dict[TaskKey, Status], blind: bool) -> Iterator[ShardStatus]:
    wanted = {p.task.item.key: p.task.fingerprint for shard in job.shards for p in shard}
    done = store.results(job.gate, wanted)
    now = time.time()
    for index, shard in enumerate(job.shards):
        if job.is_given_up(index):
            continue
        status = states.get((job.name, index)) or Status("", "UNKNOWN" if blind else "GONE")
        count = sum(piece.task.item.key in done for piece in shard)
        attempt = job.attempt(index)
        since = job.submission[1] if job.submission else job.written
        runs = attempt is not None and attempt.ended is None and status.state in ("RUNNING", "UNKNOWN")
        running = now - attempt.started if attempt and runs else None
        lines = [done[p.task.item.key] for p in shard if p.task.item.key in done]
        lately = sum(line.finished >= attempt.started for line in lines) if attempt else 0
        yield ShardStatus(
            job.name,
            job.gate,
            status.id or (attempt.id if attempt else f"{job.id or '?'}_{index}"),
            status.state,
            "" if status.reason == "None" else status.reason,
            status.node or (attempt.node if attempt else ""),
            count,
            len(shard),
            (attempt.started if attempt else now) - since,
            running,
            running / lately * (len(shard) - count) if running and lately else None,
            str(job.log(index)),
        )
