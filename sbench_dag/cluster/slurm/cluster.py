"""Runs tasks as arrays of shards. The store is the truth: a task is done when its line is there.

Slurm is asked what may still come. In this order: a line or what an array task wrote of its end, squeue, sacct, and at
last silence: a task that none of them knows, several times and with a controller that answers, is lost. What is over
without results is submitted again, up to a limit; then it is invalid, with the cause of each attempt.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sbench_dag.cluster.shards import make_shards
from sbench_dag.cluster.slurm.client import Client, RefusedError, Status, TaskKey, UnreachableError, is_over
from sbench_dag.cluster.slurm.job import Job, Piece, create_job, intend, lock, open_jobs
from sbench_dag.cluster.slurm.script import job_script
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.cluster.slurm.verdict import Ended, Verdicts
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import load_study
from sbench_dag.work.item import Result, Task
from sbench_dag.work.store import Line, Segment, Store, Tail

log = logging.getLogger(__name__)

KILLS_UNTIL_INVALID = 2
BROKEN_UNTIL_ERROR = 2  # one array task that can't begin may be one bad node
LOOK_S = 1.0
SILENCE_UNTIL_ERROR_S = 900.0


@dataclass(frozen=True)
class SlurmCluster:
    """is_cancelled: asked when a run is closed before its end. If so its jobs are cancelled; else they go on, and the
    next run over the same tasks finds them.
    """

    settings: SlurmSettings = field(default_factory=SlurmSettings)
    is_cancelled: Callable[[], bool] = lambda: False

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line, None, None]:
        """
        Raises:
            SetupError: Slurm refuses the job, no array task could even begin, or the job was cancelled by hand.
        """
        if not tasks:
            return
        run = _Run(self.settings, study, gate, tasks)
        try:
            yield from run.lines()
        except SetupError:
            run.cancel_submitted()
            raise
        except BaseException:
            if self.is_cancelled():
                run.cancel()
            else:
                run.leave()
            raise
        finally:
            run.failures.close()


@dataclass
class _Record:
    """What is known of a task that has no outcome yet. place: the job and index it is expected from."""

    task: Task
    place: tuple[Job, int] | None = None
    tries: int = 0
    kills: int = 0
    causes: list[str] = field(default_factory=list)


class _Run:
    """One call of `SlurmCluster.run`."""

    def __init__(self, settings: SlurmSettings, study: Path, gate: str, tasks: Sequence[Task]):
        self._settings, self._gate = settings, gate
        found = load_study(study)
        self._jobs_folder = found.jobs
        self._store = Store(found.results)
        self._tail = Tail(self._store, gate)
        self.failures: Segment = self._store.segment(gate)
        self._client = Client(tuple(settings.submit))
        self._pending = {task.item.key: _Record(task) for task in tasks}
        self._jobs: dict[str, Job] = {}
        self._states: dict[TaskKey, Status] = {}
        self._verdicts = Verdicts(self._client, settings.grace_s, settings.poll_s)
        self._outage = _Outage()
        self._gave: set[TaskKey] = set()  # array tasks that gave results
        self._broken: set[TaskKey] = set()

    def lines(self) -> Iterator[Line]:
        self._attach()
        yield from self._new_lines()
        poll_at = 0.0
        while self._pending:
            if time.monotonic() >= poll_at:
                yield from self._poll()
                poll_at = time.monotonic() + self._settings.poll_s
            time.sleep(min(LOOK_S, self._settings.poll_s))
            yield from self._new_lines()
        self._close_finished()

    # --- the store

    def _new_lines(self) -> Iterator[Line]:
        """Lines of pending tasks. A line without a result counts if it is of a job of this run: others are history."""
        for line in self._tail.new():
            record = self._pending.get(line.key)
            if record is None or record.task.fingerprint != line.fingerprint:
                continue
            if line.outcome.is_result or line.origin.get("job") in self._jobs:
                self._gave.add((line.origin.get("job", ""), line.origin.get("task", 0)))
                del self._pending[line.key]
                yield self._with_times(line)

    def _with_times(self, line: Line) -> Line:
        """Adds what the worker could not know of itself."""
        job = self._jobs.get(line.origin.get("job", ""))
        if job is None:
            return line
        index = line.origin["task"]
        extra: dict[str, object] = {"log": str(job.log(index))}
        attempt, status = job.attempt(index), self._states.get((job.name, index))
        if attempt:
            extra["run_s"] = round(line.finished - attempt.started, 1)
            if job.submission and attempt.restart == 0:
                extra["queue_s"] = round(max(attempt.started - job.submission[1], 0.0), 1)
        extra["state"] = status.state if status else "RUNNING"
        return replace(line, origin={**line.origin, **extra})

    def _invalid(self, record: _Record, reason: Reason, message: str) -> Line:
        del self._pending[record.task.item.key]
        text = f"{message}: {'; '.join(record.causes)}"
        return self.failures.append(
            record.task.item.key, record.task.fingerprint, Result(Outcome.INVALID, reason, text)
        )

    # --- what runs already

    def _attach(self) -> None:
        """Finds pending tasks in jobs that an earlier orchestrator submitted, or meant to."""
        with lock(self._jobs_folder):
            for job in open_jobs(self._jobs_folder, self._gate):
                self._attach_to(job)

    def _attach_to(self, job: Job) -> None:
        count = 0
        for index, shard in enumerate(job.shards):
            if job.is_given_up(index):
                continue
            for piece in shard:
                record = self._pending.get(piece.task.item.key)
                if record and record.place is None and record.task.fingerprint == piece.task.fingerprint:
                    record.place, record.tries, record.kills = (job, index), piece.tries, piece.kills
                    count += 1
        if count:
            self._jobs[job.name] = job
            log.warning(f"{self._gate}: {count} items are in job {job.id or job.name} already; following it")

    # --- what Slurm says

    def _poll(self) -> Iterator[Line]:
        """Asks once for all jobs, gives up what is over, and submits what is nowhere."""
        try:
            if self._jobs:
                self._states = self._client.queue(list(self._jobs))
                self._learn_ids()
                self._heed_cancellation()
                self._verdicts.news(self._states)
                for job, index in self._places():
                    ended = self._verdicts.of(job, index)
                    if ended:
                        self._release(job, index, ended)
            yield from self._give_up()
            self._submit_unsent()
            self._submit_missing()
        except UnreachableError as error:
            self._outage.begin(error)
        else:
            self._outage.end()

    def _heed_cancellation(self) -> None:
        """Somebody who cancels a job by hand does not want it back."""
        for job in self._jobs.values():
            if job.is_cancelled_by_hand:
                raise SetupError(f"job {job.id or job.name} was cancelled by `sbench slurm cancel`")

    def _places(self) -> list[tuple[Job, int]]:
        places = {(r.place[0].name, r.place[1]): r.place for r in self._pending.values() if r.place}
        return [place for place in places.values() if place[0].id]

    def _learn_ids(self) -> None:
        """Of jobs whose submission nobody lived to note, or whose wrapper does not print the id."""
        ids = {name: status.id.split("_")[0] for (name, _), status in self._states.items()}
        for job in self._jobs.values():
            if job.id is None:
                begun = next(filter(None, map(job.attempt, range(job.count))), None)
                id = ids.get(job.name) or (begun and begun.id.split("_")[0])
                if id:
                    job.submitted(id)

    def _release(self, job: Job, index: int, ended: Ended) -> None:
        """Takes the pending tasks out of an array task that is over."""
        job.give_up(index, ended.cause)
        here = [r for r in self._pending.values() if r.place == (job, index)]
        log.warning(f"{self._gate}: {job.id}_{index} is over with {len(here)} items left: {ended.cause}")
        if ended.is_broken:
            self._broken.add((job.name, index))
            if not self._gave and len(self._broken) >= min(job.count, BROKEN_UNTIL_ERROR):
                raise SetupError(f"{job.id}_{index} could not begin: {ended.cause}. Its log is {job.log(index)}")
        for record in here:
            record.place = None
            record.causes.append(f"{job.id}_{index}: {ended.cause}")
            # one that gave something may be submitted for ever: each time there is less to do
            record.tries += (job.name, index) not in self._gave
            record.kills += record.task.item.key in ended.suspects

    def _give_up(self) -> Iterator[Line]:
        for record in [r for r in self._pending.values() if r.place is None]:
            if record.kills >= KILLS_UNTIL_INVALID:
                text = f"killed its array task {record.kills} times, at last alone in it"
                yield self._invalid(record, Reason.WORKER_CRASHED, text)
            elif record.tries >= self._settings.attempts:
                text = f"submitted {record.tries} times without a result"
                yield self._invalid(record, Reason.WORKER_LOST, text)

    # --- submission

    def _submit_unsent(self) -> None:
        """Jobs that squeue does not know, although an orchestrator meant to submit them: it died, or got no answer."""
        unsent = [job for job in self._jobs.values() if job.id is None]
        if any(time.time() - job.written > self._settings.grace_s for job in unsent):
            with lock(self._jobs_folder):  # so nobody is at it now
                for job in unsent:
                    if job.id is None:
                        self._submit(job)

    def _submit_missing(self) -> None:
        """One array for everything that is in no job. A suspect gets a shard of its own."""
        nowhere = [r for r in self._pending.values() if r.place is None]
        if not nowhere:
            return
        with lock(self._jobs_folder):
            for job in open_jobs(self._jobs_folder, self._gate):
                if job.name not in self._jobs:
                    self._attach_to(job)  # somebody else was quicker
            nowhere = [r for r in nowhere if r.place is None]
            if not nowhere:
                return
            self._submit(self._create([self._pieces(shard) for shard in self._shards(nowhere)]))

    def _shards(self, records: Sequence[_Record]) -> list[list[Task]]:
        suspects = [r.task for r in records if r.kills]
        seconds = self._seconds()
        tasks = [replace(r.task, item=replace(r.task.item, cost=seconds)) for r in records if not r.kills]
        shard_s = 60 * self._settings.shard_minutes * self._settings.workers
        return [*make_shards(tasks, shard_s, self._settings.shards), *([task] for task in suspects)]

    def _seconds(self) -> float:
        """What an item takes: the median of those that this gate has run, or the gate's own estimate."""
        known = [line.result.timings["total_s"] for line in self._store.lines(self._gate) if line.outcome.is_result]
        if known:
            return max(statistics.median(known), 1e-3)
        return next(iter(self._pending.values())).task.item.cost

    def _pieces(self, shard: Sequence[Task]) -> list[Piece]:
        records = [self._pending[task.item.key] for task in shard]
        return [Piece(task, r.tries, r.kills) for task, r in zip(shard, records, strict=True)]

    def _create(self, shards: list[list[Piece]]) -> Job:
        job = create_job(self._jobs_folder, self._gate, shards)
        intent = {"gate": self._gate, "shards": len(shards)}
        limits = {"workers": self._settings.workers, "timeout_s": self._settings.timeout_s}
        intend(job, job_script(job, len(shards), self._settings), **intent, **limits)
        self._jobs[job.name] = job
        for index, shard in enumerate(shards):
            for piece in shard:
                self._pending[piece.task.item.key].place = (job, index)
        return job

    def _submit(self, job: Job) -> None:
        try:
            id = self._client.submit(job.script)
        except RefusedError:
            job.close("refused")
            raise
        if id:
            job.submitted(id)
        log.info(f"{self._gate}: submitted {job.count} array tasks as job {id or job.name}; logs in {job.folder}")

    # --- the end

    def _close_finished(self) -> None:
        """Jobs that have nothing to do any more need not be looked at by later runs."""
        done = self._store.results(self._gate, self._wanted())
        for job in self._jobs.values():
            if all(piece.task.item.key in done for shard in job.shards for piece in shard):
                job.close("finished")

    def _wanted(self) -> dict[str, str]:
        jobs = self._jobs.values()
        return {p.task.item.key: p.task.fingerprint for job in jobs for shard in job.shards for p in shard}

    def cancel(self) -> None:
        """Cancels the jobs and waits until nothing of them runs."""
        if not self._jobs:
            return
        log.warning(f"{self._gate}: cancelling {', '.join(job.id or job.name for job in self._jobs.values())}")
        for job in self._jobs.values():
            job.close("cancelled")
        cancel_jobs(list(self._jobs), self._client)

    def cancel_submitted(self) -> None:
        """Cancels what is known to have come as far as Slurm."""
        self._jobs = {name: job for name, job in self._jobs.items() if job.id}
        self.cancel()

    def leave(self) -> None:
        jobs = ", ".join(job.id or job.name for job in self._jobs.values())
        if self._pending and jobs:
            log.warning(f"{self._gate}: {jobs} goes on without us; the next run over these items follows it")


def cancel_jobs(names: Sequence[str], client: Client, patience_s: float = 120.0) -> None:
    """Cancels jobs by name and waits until they are gone."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            client.cancel(*names)
            if all(map(is_over, client.queue(names).values())):
                return
        except UnreachableError as error:
            log.warning(f"Slurm does not answer ({error}); trying to cancel again")
        time.sleep(LOOK_S)
    raise SetupError(f"could not cancel {', '.join(names)} within {patience_s:g} s; please look with squeue --me")


class _Outage:
    """Says once that Slurm does not answer, and once for how long it did not."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._answered = False

    def begin(self, error: UnreachableError) -> None:
        """
        Raises:
            SetupError: it never did answer, for so long that it will not.
        """
        if self._since is None:
            self._since = time.monotonic()
            log.warning(f"Slurm does not answer ({error}). What runs goes on, and results come in as they are stored")
        if not self._answered and time.monotonic() - self._since > SILENCE_UNTIL_ERROR_S:
            raise SetupError(f"Slurm has not answered for {SILENCE_UNTIL_ERROR_S:g} s: {error}") from None

    def end(self) -> None:
        self._answered = True
        if self._since is not None:
            log.warning(f"Slurm answers again, after {time.monotonic() - self._since:.0f} s")
            self._since = None
