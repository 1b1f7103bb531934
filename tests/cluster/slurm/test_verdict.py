"""When an array task counts as over, and what is said of its end."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sbench_dag.cluster.slurm import verdict
from sbench_dag.cluster.slurm.client import Status, TaskKey, UnreachableError
from sbench_dag.cluster.slurm.job import Attempt, Job, Piece, create_job, intend
from sbench_dag.cluster.slurm.verdict import Ended, Verdicts
from sbench_dag.work.item import Task, WorkItem
from tests.clock import Clock

GRACE_S = 30.0
RUNNING = Status("473_0", "RUNNING", "None", "c1")
FAILED = Status("473_0", "FAILED", "NonZeroExitCode", "c1")


class Slurm:
    """What the client would be told; notes what it was asked."""

    def __init__(self) -> None:
        self.accounts: dict[TaskKey, Status] | None = {}
        self.is_silent = False
        self.asked: list[dict[str, str]] = []
        self.cancelled: list[str] = []

    def accounting(self, names_by_id: dict[str, str]) -> dict[TaskKey, Status] | None:
        self.asked.append(names_by_id)
        if self.is_silent:
            raise UnreachableError("sacct: no answer")
        return self.accounts

    def cancel_task(self, task: str) -> None:
        if self.is_silent:
            raise UnreachableError("scancel: no answer")
        self.cancelled.append(task)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(verdict, "time", one)
    return one


@pytest.fixture
def slurm() -> Slurm:
    return Slurm()


@pytest.fixture
def verdicts(slurm: Slurm, clock: Clock) -> Verdicts:
    return Verdicts(slurm, GRACE_S)  # type: ignore[arg-type]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Two array tasks, submitted as 473."""
    jobs = tmp_path / "study" / "jobs"
    jobs.mkdir(parents=True)
    shards = [[Piece(Task(WorkItem(key, "group"), "f"))] for key in ("a", "b")]
    job = create_job(jobs, "stage_c", shards)
    intend(job, "", gate="stage_c", shards=2)
    job.submitted("473")
    return job


def begin(job: Job, *running: str, end: str | None = None) -> None:
    job.note(0, Attempt("473_0", "c1", 0, 1.0, running, 2.0 if end else None, end))


def after(verdicts: Verdicts, clock: Clock, job: Job, status: Status | None, seconds: float = GRACE_S) -> Ended | None:
    """The verdict when squeue has given the same answer for that long."""
    verdicts.news({(job.name, 0): status} if status else {})
    verdicts.of(job, 0)
    clock.now += seconds
    verdicts.news({(job.name, 0): status} if status else {})
    return verdicts.of(job, 0)


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED"])
def test_what_lives_is_not_over_however_long_it_takes(verdicts: Verdicts, clock: Clock, job: Job, state: str):
    assert after(verdicts, clock, job, Status("473_0", state), 1e6) is None


def test_what_is_held_is_waited_for_and_said_once(
    verdicts: Verdicts, clock: Clock, job: Job, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        assert after(verdicts, clock, job, Status("473_0", "PENDING", "JobHeldUser"), 1e6) is None
    assert caplog.text.count("is held") == 1
    assert "scontrol release 473_0" in caplog.text


def test_what_waits_for_somebody_is_waited_for_and_each_reason_said_once(
    verdicts: Verdicts, clock: Clock, job: Job, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        for reason in ("Resources", "PartitionTimeLimit", "Priority", "AssocGrpCpuLimit", "PartitionTimeLimit"):
            assert after(verdicts, clock, job, Status("473_0", "PENDING", reason), 1e6) is None
    assert caplog.messages == ["473_0 waits: PartitionTimeLimit", "473_0 waits: AssocGrpCpuLimit"]


def test_what_runs_or_waits_for_its_turn_is_not_worth_a_word(
    verdicts: Verdicts, clock: Clock, job: Job, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        for status in (RUNNING, Status("473_0", "PENDING", "Resources"), Status("473_0", "RUNNING", "BeginTime")):
            after(verdicts, clock, job, status)
    assert caplog.messages == []


def test_what_is_stuck_is_cancelled_at_once(verdicts: Verdicts, slurm: Slurm, job: Job):
    verdicts.news({(job.name, 0): Status("473_0", "PENDING", "DependencyNeverSatisfied")})
    assert verdicts.of(job, 0) == Ended("stuck: DependencyNeverSatisfied")
    assert slurm.cancelled == ["473_0"]


def test_what_is_stuck_is_not_over_before_it_could_be_cancelled(verdicts: Verdicts, slurm: Slurm, job: Job):
    slurm.is_silent = True
    verdicts.news({(job.name, 0): Status("473_0", "PENDING", "launch failed requeued held")})
    with pytest.raises(UnreachableError):
        verdicts.of(job, 0)


def test_the_last_results_may_come_late(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, "a")
    assert after(verdicts, clock, job, FAILED, GRACE_S - 1) is None
    clock.now += 1
    assert verdicts.of(job, 0) is not None


@pytest.mark.parametrize(
    ("end", "ended"),
    [
        ("done", Ended("COMPLETING, but not all of its results came")),
        ("stopped", Ended("stopped on c1 (COMPLETING)", node="c1")),
    ],
)
def test_a_node_that_hangs_does_not_keep_a_task_that_has_come_to_its_end(
    verdicts: Verdicts, clock: Clock, job: Job, end: str, ended: Ended
):
    begin(job, end=end)
    completing = Status("473_0", "COMPLETING", "None", "c1")
    assert after(verdicts, clock, job, completing, GRACE_S - 1) is None
    assert after(verdicts, clock, job, completing, 1) == ended


def test_a_task_that_completes_but_has_not_said_how_it_ended_is_waited_for(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, "a")
    assert after(verdicts, clock, job, Status("473_0", "COMPLETING", "None", "c1"), 1e6) is None


def test_a_requeued_task_runs_although_it_was_stopped_before(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, end="stopped")
    for status in (Status("473_0", "PENDING", "BeginTime"), RUNNING):
        assert after(verdicts, clock, job, status, 1e6) is None


def test_what_comes_back_from_its_end_is_not_over(verdicts: Verdicts, clock: Clock, job: Job):
    """A requeue: FAILED or nothing for a moment, then PENDING again."""
    assert after(verdicts, clock, job, FAILED, GRACE_S - 1) is None
    assert after(verdicts, clock, job, RUNNING, 1) is None
    assert after(verdicts, clock, job, FAILED, GRACE_S - 1) is None, "the grace begins anew"


def test_an_array_task_that_said_how_it_ended_needs_no_slurm(verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job):
    begin(job, end="stopped")
    ended = after(verdicts, clock, job, None)
    assert ended == Ended("stopped on c1", node="c1")
    assert slurm.asked == []


def test_results_that_are_missing_although_all_is_done(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, end="done")
    assert after(verdicts, clock, job, None) == Ended("done, but not all of its results came")
    status = Status("473_0", "COMPLETED", "None", "c1")
    assert after(verdicts, clock, job, status) == Ended("COMPLETED, but not all of its results came")


def test_an_error_of_the_worker_is_its_cause(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, end="failed: no such policy")
    ended = after(verdicts, clock, job, FAILED)
    assert ended == Ended("failed: no such policy on c1 (FAILED (NonZeroExitCode))", is_broken=True, node="c1")


@pytest.mark.parametrize("state", ["FAILED", "OUT_OF_MEMORY", "TIMEOUT"])
def test_what_it_was_at_when_it_died_is_suspect(verdicts: Verdicts, clock: Clock, job: Job, state: str):
    begin(job, "a", "b")
    job.log(0).write_text("Loading\nKilled\n")
    ended = after(verdicts, clock, job, Status("473_0", state, "None", "c1"))
    assert ended == Ended(f"{state} on c1: Killed", frozenset("ab"), is_kill=True)


@pytest.mark.parametrize("state", ["CANCELLED", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE"])
def test_what_died_of_an_outer_cause_has_no_suspects(verdicts: Verdicts, clock: Clock, job: Job, state: str):
    begin(job, "a")
    ended = after(verdicts, clock, job, Status("473_0", state))
    assert ended == Ended(f"{state} on c1")


def test_a_program_that_can_not_begin_is_broken(verdicts: Verdicts, clock: Clock, job: Job):
    job.log(0).write_text("bash: exec: no-such-python: not found\n\n")
    ended = after(verdicts, clock, job, FAILED)
    cause = "FAILED (NonZeroExitCode) before it began: bash: exec: no-such-python: not found"
    assert ended == Ended(cause, is_broken=True, node="c1")


def test_which_node_it_was_the_accounting_does_not_say(verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job):
    slurm.accounts = {(job.name, 0): Status("473_0", "FAILED", "exit code 127:0")}
    assert after(verdicts, clock, job, None) == Ended("FAILED (exit code 127:0) before it began", is_broken=True)


@pytest.mark.parametrize("state", ["CANCELLED", "NODE_FAIL", "TIMEOUT"])
def test_what_was_kept_from_beginning_is_not_broken(verdicts: Verdicts, clock: Clock, job: Job, state: str):
    assert after(verdicts, clock, job, Status("473_0", state)) == Ended(f"{state} before it began")


def test_what_squeue_has_forgotten_the_accounting_may_know(verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job):
    begin(job, "a")
    slurm.accounts = {(job.name, 0): Status("473_0", "FAILED", "exit code 0:9")}
    ended = after(verdicts, clock, job, None)
    assert ended == Ended("FAILED (exit code 0:9) on c1", frozenset("a"), is_kill=True)
    assert slurm.asked == [{"473": job.name}]
    assert slurm.cancelled == []


def test_what_lives_by_the_accounting_alone_is_lost_in_the_end(
    verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job
):
    """A controller that has lost its state leaves such rows for ever."""
    slurm.accounts = {(job.name, 0): RUNNING}
    assert after(verdicts, clock, job, None) is None
    assert after(verdicts, clock, job, None, 0) is not None


def test_what_nobody_knows_is_lost_after_several_answers_and_not_cancelled(
    verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job
):
    slurm.accounts = None
    begin(job, "a")
    assert after(verdicts, clock, job, None, 1e6) is None, "two answers"
    verdicts.news({})
    ended = verdicts.of(job, 0)
    assert ended == Ended("lost: neither squeue nor sacct knows it", frozenset("a")), "it is not known that it died"
    assert slurm.cancelled == []
    assert len(slurm.asked) == 1, "a site without accounting is not asked again"


def test_no_number_of_answers_makes_a_task_lost_within_the_grace(verdicts: Verdicts, clock: Clock, job: Job):
    for _ in range(10):
        assert after(verdicts, clock, job, None, 1.0) is None
    clock.now += GRACE_S
    assert verdicts.of(job, 0) == Ended("lost: neither squeue nor sacct knows it")


def test_no_time_without_answers_makes_a_task_lost(verdicts: Verdicts, clock: Clock, job: Job):
    """A controller that is down for an hour forgets nothing."""
    for _ in range(10):
        assert verdicts.of(job, 0) is None
        clock.now += 3600


def test_a_task_that_shows_up_again_is_not_lost(verdicts: Verdicts, clock: Clock, job: Job):
    assert after(verdicts, clock, job, None) is None
    assert after(verdicts, clock, job, RUNNING) is None
    assert after(verdicts, clock, job, None) is None, "the answers are counted anew"


def test_an_accounting_that_does_not_answer_is_asked_again_next_time(
    verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job
):
    slurm.is_silent = True
    assert after(verdicts, clock, job, None) is None
    slurm.is_silent = False
    slurm.accounts = {(job.name, 0): FAILED}
    assert verdicts.of(job, 0) is None, "not within the same answer of squeue"
    assert after(verdicts, clock, job, None, 1) is not None


def test_the_accounting_is_asked_once_an_answer_whatever_the_number_of_tasks(
    verdicts: Verdicts, slurm: Slurm, clock: Clock, job: Job
):
    for index in (0, 1):
        verdicts.of(job, index)
    clock.now += GRACE_S
    for answers in (1, 2):
        verdicts.news({})
        for index in (0, 1, 0):
            verdicts.of(job, index)
        assert len(slurm.asked) == answers


def test_each_array_task_has_a_verdict_of_its_own(verdicts: Verdicts, clock: Clock, job: Job):
    begin(job, "a")
    verdicts.of(job, 0)
    clock.now += GRACE_S
    verdicts.news({(job.name, 0): FAILED, (job.name, 1): FAILED})
    assert verdicts.of(job, 0) is not None
    assert verdicts.of(job, 1) is None, "it looks over only now"
