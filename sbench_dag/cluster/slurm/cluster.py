"""Runs tasks as arrays of shards. The store is the truth: a task is done when its line is there.

Slurm is asked what may still come. In this order: a line, squeue, what an array task wrote of its own end, sacct, and
at last silence: a task that none of them knows, answer after answer, is lost. What is over without results is submitted
again, up to a limit; then it is invalid, with the cause of each attempt. An error never cancels what is healthy.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sbench_dag.cluster.shards import make_shards
from sbench_dag.cluster.slurm.cancel import cancel_jobs
from sbench_dag.cluster.slurm.client import Client, RefusedError, Status, TaskKey, UnreachableError
from sbench_dag.cluster.slurm.job import Job, Piece, create_job, intend, lock, open_jobs
from sbench_dag.cluster.slurm.outage import Outage
from sbench_dag.cluster.slurm.script import job_options, job_script
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.cluster.slurm.verdict import Ended, Verdicts
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import load_study
from sbench_dag.work.item import Result, Task, WorkItem
from sbench_dag.work.store import Line, Segment, Store, Tail

log = logging.getLogger(__name__)

KILLS_UNTIL_INVALID = 2
LOOK_S = 1.0
REFUSED_RETRY_S = 120.0
IDLE_S = 3600.0


@dataclass(frozen=True)
class SlurmCluster:
    """is_cancelled: asked when a run is closed before its end. If so its jobs are cancelled; else they go on, and the
    next run over the same tasks finds them.
    """

    settings: SlurmSettings = field(default_factory=SlurmSettings)
    is_cancelled: Callable[[], bool] = lambda: False

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line | None, None, None]:
        """
        Raises:
            SetupError: Slurm refuses the job, no array task can even begin, or the job was cancelled by hand.
        """
        if not tasks:
            return
        run = _Run(self.settings, study, gate, tasks)
        try:
            yield from run.lines()
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
    is_suspect: bool = False
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
        self._idle: list[Job] = []  # open, but of no use to this run
        self._states: dict[TaskKey, Status] = {}
        self._verdicts = Verdicts(self._client, settings.grace_s)
        self._outage = Outage()
        self._gave: set[TaskKey] = set()  # array tasks that gave results
        self._broken: list[str] = []  # the node of each array task that could not begin
        self._refused_at: float | None = None

    def lines(self) -> Iterator[Line | None]:
        self._attach()
        yield from self._new_lines()
        poll_at = 0.0
        while self._pending:
            if time.monotonic() >= poll_at:
                yield from self._poll()
                poll_at = time.monotonic() + self._settings.poll_s
            yield None
            time.sleep(min(LOOK_S, self._settings.poll_s))
            yield from self._new_lines()
        self._outage.outlived()
        self._close_finished()

    # --- the store

    def _new_lines(self) -> Iterator[Line]:
        """Lines of pending tasks. A line without a result counts if it is of a job of this run: others are history."""
        for line in self._tail.new():
            if line.origin.get("job") in self._jobs:
                self._gave.add((line.origin["job"], line.origin["task"]))
            yield from self._accept(line)

    def _accept(self, line: Line) -> Iterator[Line]:
        record = self._pending.get(line.key)
        if record is None or record.task.fingerprint != line.fingerprint:
            return
        if line.outcome.is_result or line.origin.get("job") in self._jobs:
            del self._pending[line.key]
            yield self._with_times(line)

    def _last_look(self) -> Iterator[Line]:
        """Reads all of the store again before anything is given up: a network file system may have shown it late."""
        self._store.refresh(self._gate)
        wanted = {key: record.task.fingerprint for key, record in self._pending.items()}
        for line in self._store.results(self._gate, wanted).values():
            yield from self._accept(line)

    def _with_times(self, line: Line) -> Line:
        """Adds what the worker could not know of itself."""
        job = self._jobs.get(line.origin.get("job", ""))
        if job is None:
            return line
        index = line.origin["task"]
        extra: dict[str, object] = {"log": str(job.log(index))}
        attempt, status = job.attempt(index, line.origin["restart"]), self._states.get((job.name, index))
        submission = job.submission
        if attempt:
            extra["run_s"] = round(line.finished - attempt.started, 1)
            if submission and attempt.restart == 0:
                extra["queue_s"] = round(max(attempt.started - submission[1], 0.0), 1)
        if status:
            extra["state"] = status.state
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
                if not self._attach_to(job):
                    self._idle.append(job)

    def _attach_to(self, job: Job) -> bool:
        """Whether the job has anything for this run."""
        count = 0
        for index, shard in enumerate(job.shards):
            if job.is_given_up(index):
                continue
            for piece in shard:
                record = self._pending.get(piece.task.item.key)
                if record and record.place is None and record.task.fingerprint == piece.task.fingerprint:
                    record.place, record.causes = (job, index), list(piece.causes)
                    record.tries, record.kills = piece.tries, piece.kills
                    count += 1
        if count:
            self._jobs[job.name] = job
            log.warning(f"{self._gate}: {count} items are in job {job.id or job.name} already; following it")
        return bool(count)

    def _close_idle(self) -> None:
        """Jobs of yesterday's inputs that Slurm has forgotten: nobody will ever ask for their results."""
        known = {name for name, _ in self._states}
        for job in self._idle:
            if job.name not in known and time.time() - job.written > IDLE_S:
                job.close("over")
        self._idle = []

    # --- what Slurm says

    def _poll(self) -> Iterator[Line]:
        """Asks once for all jobs, gives up what is over, and submits what is nowhere."""
        try:
            if self._jobs or self._idle:
                self._states = self._client.queue([*self._jobs, *(job.name for job in self._idle)])
                self._close_idle()
                self._learn_ids()
                self._heed_cancellation()
                yield from self._release_what_is_over()
            yield from self._give_up()
            self._submit_unsent()
            self._submit_missing()
        except UnreachableError as error:
            self._outage.begin(error, is_hopeless=not self._jobs_with_id())
        else:
            self._outage.end()

    def _release_what_is_over(self) -> Iterator[Line]:
        self._verdicts.news(self._states)
        ended = [(job, index, verdict) for job, index in self._places() if (verdict := self._verdicts.of(job, index))]
        if ended:
            yield from self._last_look()
        for job, index, verdict in ended:
            self._release(job, index, verdict)

    def _jobs_with_id(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.id]

    def _heed_cancellation(self) -> None:
        """Somebody who cancels a job by hand does not want it back."""
        for job in self._jobs.values():
            if job.is_cancelled_by_hand:
                raise SetupError(f"job {job.id or job.name} was cancelled by `sbench slurm cancel`")

    def _places(self) -> list[tuple[Job, int]]:
        """The array tasks from which something is still expected."""
        known = {job.name for job in self._jobs_with_id()}
        places = {(r.place[0].name, r.place[1]): r.place for r in self._pending.values() if r.place}
        return [place for (name, _), place in places.items() if name in known]

    def _learn_ids(self) -> None:
        """Of jobs whose submission nobody lived to note, or whose wrapper does not print the id."""
        ids = {name: status.id.split("_")[0] for (name, _), status in self._states.items()}
        for job in self._jobs.values():
            known, id = job.id, ids.get(job.name)
            if known is None and id is None:
                begun = next(filter(None, map(job.attempt, range(job.count))), None)
                id = begun and begun.id.split("_")[0]
            if id and id != known:
                job.submitted(id)

    def _release(self, job: Job, index: int, ended: Ended) -> None:
        """Takes the pending tasks out of an array task that is over."""
        job.give_up(index, ended.cause)
        here = [r for r in self._pending.values() if r.place == (job, index)]
        if not here:
            return  # the last look has found them all
        log.warning(f"{self._gate}: {job.id}_{index} is over with {len(here)} items left: {ended.cause}")
        if ended.is_broken:
            self._broken.append(ended.node)
            self._check_that_any_can_begin(job, index, ended)
        for record in here:
            record.place = None
            record.causes.append(f"{job.id}_{index}: {ended.cause}")
            # one that gave something may be submitted for ever: each time there is less to do
            record.tries += (job.name, index) not in self._gave
            record.is_suspect = record.task.item.key in ended.suspects
            record.kills += record.is_suspect and ended.is_kill

    def _check_that_any_can_begin(self, job: Job, index: int, ended: Ended) -> None:
        """One array task that can't begin may be a bad node. Several without a single result are a bad set-up."""
        elsewhere = [place for place in self._places() if place != (job, index)]
        if self._gave or len(self._broken) < 2 or (elsewhere and len(set(self._broken)) < 2):
            return
        self.cancel()
        raise SetupError(f"{job.id}_{index} could not begin: {ended.cause}. Its log is {job.log(index)}")

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
        late = time.time() - self._settings.grace_s
        unsent = [job for job in self._jobs.values() if job.id is None and job.written < late]
        if unsent:
            with lock(self._jobs_folder):  # so nobody is at it now
                for job in unsent:
                    if job.id is None:
                        self._submit(job)

    def _submit_missing(self) -> None:
        """One array for everything that is in no job. A suspect gets a shard of its own."""
        nowhere = [r for r in self._pending.values() if r.place is None]
        if not nowhere or (self._refused_at and time.monotonic() - self._refused_at < REFUSED_RETRY_S):
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
        """Suspects each in a shard of its own, as long as there may be so many; those that are left wait."""
        alone = [r.task for r in records if r.is_suspect or r.kills][: max(self._settings.shards - 1, 1)]
        costs = self._costs()
        rest = [r.task for r in records if not (r.is_suspect or r.kills)]
        tasks = [replace(task, item=replace(task.item, cost=costs(task.item))) for task in rest]
        shard_s = 60 * self._settings.shard_minutes * self._settings.workers
        shards = make_shards(tasks, shard_s, max(self._settings.shards - len(alone), 1))
        return [*shards, *([task] for task in alone)]

    def _costs(self) -> Callable[[WorkItem], float]:
        """What an item is expected to take: the longest that it ever took here, or what others took on average.

        Not less than the gate's own estimate: a verdict from a stored rollout says nothing about the next simulation.
        """
        longest: dict[str, float] = {}
        for line in self._store.lines(self._gate):
            if line.outcome in (Outcome.SUCCESS, Outcome.FAILURE):
                longest[line.key] = max(longest.get(line.key, 0.0), line.result.timings.get("total_s", 0.0))
        usual = statistics.fmean(longest.values()) if longest else 0.0
        return lambda item: max(longest.get(item.key, usual), item.cost)

    def _pieces(self, shard: Sequence[Task]) -> list[Piece]:
        records = [self._pending[task.item.key] for task in shard]
        return [Piece(r.task, r.tries, r.kills, tuple(r.causes)) for r in records]

    def _create(self, shards: list[list[Piece]]) -> Job:
        job = create_job(self._jobs_folder, self._gate, shards)
        options = job_options(job, len(shards), self._settings, {node for node in self._broken if node})
        intend(
            job,
            job_script(job, self._settings, options),
            gate=self._gate,
            shards=len(shards),
            workers=self._settings.workers,
            timeout_s=self._settings.timeout_s,
            options=options,
        )
        self._jobs[job.name] = job
        for index, shard in enumerate(shards):
            for piece in shard:
                self._pending[piece.task.item.key].place = (job, index)
        return job

    def _submit(self, job: Job) -> None:
        """Where other jobs go on, a refusal is put up with for a while: limits on what one may submit come and go."""
        try:
            id = self._client.submit(job.script, job.intent["options"])
        except RefusedError as error:
            job.close("refused")
            del self._jobs[job.name]
            for record in self._pending.values():
                if record.place and record.place[0] == job:
                    record.place = None
            if not self._places():
                raise
            self._refused_at = time.monotonic()
            log.warning(f"{error}. What runs goes on; trying again in {REFUSED_RETRY_S:g} s")
            return
        self._refused_at = None
        if id:
            job.submitted(id)
        log.info(f"{self._gate}: submitted {job.count} array tasks as job {id or job.name}; logs in {job.folder}")

    # --- the end

    def _close_finished(self) -> None:
        """Jobs that have nothing to do any more need not be looked at by later runs."""
        lines = list(self._store.lines(self._gate))
        for job in self._jobs.values():
            done = {line.key for line in lines if line.outcome.is_result or line.origin.get("job") == job.name}
            done |= {line.key for line in lines if line.segment == self.failures.path.stem}
            if all(piece.task.item.key in done for shard in job.shards for piece in shard):
                job.close("finished")

    def cancel(self) -> None:
        """Cancels the jobs and waits until nothing of them runs."""
        if self._jobs:
            log.warning(f"{self._gate}: cancelling {', '.join(job.id or job.name for job in self._jobs.values())}")
            cancel_jobs(list(self._jobs.values()), self._client)

    def leave(self) -> None:
        jobs = ", ".join(job.id or job.name for job in self._jobs.values())
        if self._pending and jobs:
            log.warning(f"{self._gate}: {jobs} goes on without us; the next run over these items follows it")
