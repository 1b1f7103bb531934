"""A job's folder says all that a later orchestrator has to know, and its script all that Slurm has to."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from sbench_dag.cluster.slurm.job import Attempt, Job, Piece, create_job, intend, lock, open_jobs
from sbench_dag.cluster.slurm.script import job_options, job_script
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.errors import SetupError
from sbench_dag.work.item import Task, WorkItem

SHARDS = [
    [Piece(Task(WorkItem("a", "g", 2.5, timeout_s=900.0), "fa")), Piece(Task(WorkItem("b", "g", 1.0), "fb"), tries=2)],
    [Piece(Task(WorkItem("c", "h"), "fc"), tries=1, kills=1, causes=("473_0: lost", "474_1: é|"))],
]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    folder = tmp_path / "study" / "jobs"
    folder.mkdir(parents=True)
    return folder


def make_job(jobs: Path, gate: str = "stage_c", written: float | None = None) -> Job:
    job = create_job(jobs, gate, SHARDS)
    intend(job, "", gate=gate, shards=len(SHARDS), **({} if written is None else {"written": written}))
    return job


def script_of(job: Job, settings: SlurmSettings, count: int = 1, bad_nodes: Collection[str] = ()) -> str:
    return job_script(job, settings, job_options(job, count, settings, bad_nodes))


# --- the script


def test_a_script_without_settings_leaves_the_choice_to_slurm(jobs: Path):
    job = create_job(jobs, "stage_c", SHARDS)
    assert script_of(job, SlurmSettings(), 2).splitlines() == [
        "#!/bin/bash",
        f"#SBATCH --job-name={job.name}",
        "#SBATCH --array=0-1",
        f"#SBATCH --output={job.folder}/logs/%a.log",
        "#SBATCH --open-mode=append",
        f"#SBATCH --chdir={Path.cwd()}",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --time=01:00:00",
        "#SBATCH --signal=B:USR1@120",
        "#SBATCH --requeue",
        f"exec {sys.executable} -m sbench_dag.cluster.slurm.task {job.folder}",
    ]


def test_every_setting_has_its_place_in_the_script(jobs: Path):
    job = create_job(jobs, "stage_c", SHARDS)
    settings = SlurmSettings(
        partition="gpu",
        account="lab",
        qos="low",
        gres="gpu:1",
        cpus=8,
        memory="16G",
        time_limit="02:00:00",
        parallel=20,
        notice_s=300,
        options=["--constraint h200", "--no-requeue", "--comment='for you'"],
        setup=["module load cuda", "export A=1"],
        container="apptainer exec --nv 'my sim.sif'",
        python="/venv/bin/python",
    )
    assert script_of(job, settings, 1000, ["c9", "c10"]).splitlines() == [
        "#!/bin/bash",
        f"#SBATCH --job-name={job.name}",
        "#SBATCH --array=0-999%20",
        f"#SBATCH --output={job.folder}/logs/%a.log",
        "#SBATCH --open-mode=append",
        f"#SBATCH --chdir={Path.cwd()}",
        "#SBATCH --partition=gpu",
        "#SBATCH --account=lab",
        "#SBATCH --qos=low",
        "#SBATCH --gres=gpu:1",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH --mem=16G",
        "#SBATCH --time=02:00:00",
        "#SBATCH --signal=B:USR1@300",
        "#SBATCH --exclude=c10,c9",
        "#SBATCH --requeue",
        "#SBATCH --constraint",
        "#SBATCH h200",
        "#SBATCH --no-requeue",
        "#SBATCH '--comment=for you'",
        "set -e",
        "module load cuda",
        "export A=1",
        f"exec apptainer exec --nv 'my sim.sif' /venv/bin/python -m sbench_dag.cluster.slurm.task {job.folder}",
    ]


@pytest.mark.parametrize("comment", ["it's", "a#b", "two words"])
def test_what_slurm_would_take_for_more_than_a_letter_is_quoted(jobs: Path, comment: str):
    job = create_job(jobs, "stage_c", SHARDS)
    script = script_of(job, SlurmSettings(options=[shlex.join([f"--comment={comment}"])]))
    assert f"#SBATCH {shlex.quote(f'--comment={comment}')}" in script.splitlines()


def test_without_notice_no_signal_is_asked_for(jobs: Path):
    job = create_job(jobs, "stage_c", SHARDS)
    assert "--signal" not in script_of(job, SlurmSettings(notice_s=0))


def test_a_study_in_a_folder_with_spaces(tmp_path: Path):
    jobs = tmp_path / "my study" / "jobs"
    jobs.mkdir(parents=True)
    job = create_job(jobs, "stage_c", SHARDS)
    assert " " not in job.name
    print_words = tmp_path / "my python"
    print_words.write_text("#!/bin/sh\nprintf '%s|' $FROM_SETUP \"$@\"\n")
    print_words.chmod(0o755)
    settings = SlurmSettings(python=str(print_words), setup=["FROM_SETUP=set"], container="env FROM_SETUP=both")
    intend(job, script_of(job, settings), gate="stage_c", shards=1)
    assert f"#SBATCH '--output={job.folder}/logs/%a.log'" in job.script.read_text().splitlines()
    printed = subprocess.run(["bash", job.script], check=True, capture_output=True, text=True).stdout
    assert printed.split("|")[:-1] == ["both", "-m", "sbench_dag.cluster.slurm.task", str(job.folder)]


def test_the_worker_takes_the_shells_place(jobs: Path):
    """Slurm signals the script's own process."""
    job = create_job(jobs, "stage_c", SHARDS)
    script = script_of(job, SlurmSettings(python="/bin/true", setup=["echo $$"]))
    assert script.splitlines()[-1].startswith("exec /bin/true ")
    shown = subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, text=True)
    assert shown.communicate()[0].strip() == str(shown.pid)


def test_where_the_set_up_fails_no_worker_begins(jobs: Path):
    job = create_job(jobs, "stage_c", SHARDS)
    settings = SlurmSettings(python="/bin/echo", setup=["echo before", "module-load no-such-module", "echo behind"])
    done = subprocess.run(["bash", "-c", script_of(job, settings)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (127, "before\n")


# --- the folder


def test_what_is_written_can_be_read(jobs: Path):
    before = time.time()
    job = Job(make_job(jobs).folder)
    assert (job.gate, job.count, job.shards) == ("stage_c", 2, SHARDS)
    assert before <= job.written <= time.time()
    assert job.study == jobs.parent
    assert job.log(1) == job.folder / "logs" / "1.log"


def test_a_name_is_the_studys_and_the_gates_and_one_word(tmp_path: Path):
    jobs = tmp_path / "my, study|é" / "jobs"
    jobs.mkdir(parents=True)
    name = create_job(jobs, "stage_c", SHARDS).name
    assert name.startswith("sbench-my--study---stage-c-")
    assert len(create_job(jobs, "g" * 200, SHARDS).name) < 80


def test_the_same_work_submitted_twice_has_two_names(jobs: Path):
    assert len({create_job(jobs, "stage_c", SHARDS).name for _ in range(5)}) == 5


def test_studies_of_one_name_in_two_places_never_share_a_job(tmp_path: Path):
    """Nor does one that was deleted and made again: Slurm may still run its jobs."""
    names = set()
    for place in ("one", "other"):
        jobs = tmp_path / place / "study" / "jobs"
        jobs.mkdir(parents=True)
        names.add(create_job(jobs, "stage_c", SHARDS).name)
    assert len(names) == 2


def test_an_id_is_known_once_it_is_noted(jobs: Path):
    job = make_job(jobs)
    assert (job.id, job.submission) == (None, None)
    job.submitted("473")
    again = Job(job.folder)
    assert again.id == "473"
    assert again.submission is not None and again.submission[1] >= again.written


def test_shards_are_given_up_one_by_one_and_all_when_the_job_is_closed(jobs: Path):
    job = make_job(jobs)
    job.give_up(1, "lost")
    assert [job.is_given_up(index) for index in (0, 1)] == [False, True]
    job.close("cancelled")
    assert job.is_closed and job.is_given_up(0)


def test_open_jobs_are_listed_newest_first_and_closed_ones_left_out(jobs: Path):
    old, new, middle = (make_job(jobs, written=written) for written in (100.0, 300.0, 200.0))
    other, closed = make_job(jobs, "stage_b", 400.0), make_job(jobs)
    closed.close("finished")
    assert open_jobs(jobs, "stage_c") == [new, middle, old]
    assert open_jobs(jobs) == [other, new, middle, old]
    assert open_jobs(jobs.with_name("none")) == []


def test_a_job_that_was_only_half_written_is_passed_over(jobs: Path):
    half, whole = create_job(jobs, "stage_c", SHARDS), make_job(jobs)
    with lock(jobs):
        assert open_jobs(jobs) == [whole]
        assert half.folder.exists()


def test_a_closed_job_can_be_opened_again(jobs: Path):
    job = make_job(jobs)
    job.reopen()
    job.give_up(1, "lost")
    job.close("cancelled")
    job.reopen()
    assert open_jobs(jobs) == [job]
    assert [job.is_given_up(index) for index in (0, 1)] == [False, True]


def test_a_file_system_without_locks_is_one_clear_error(jobs: Path, monkeypatch: pytest.MonkeyPatch):
    def flock(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("sbench_dag.files.fcntl.flock", flock)
    with pytest.raises(SetupError, match=r"can't be locked \(.*Function not implemented\); on Lustre"), lock(jobs):
        pass


def test_of_two_arrays_of_one_script_the_first_gets_the_job(jobs: Path):
    job = make_job(jobs)
    assert [job.is_of(array) for array in ("474", "473", "474")] == [True, False, True]
    assert Job(job.folder).is_of("474"), "also after a requeue"
    assert make_job(jobs).is_of("473"), "another job is another matter"


def test_a_job_that_is_being_written_is_left_alone_by_those_who_wait_for_the_lock(jobs: Path):
    found: list[list[Job]] = []

    def other() -> None:
        with lock(jobs):
            found.append(open_jobs(jobs))

    waiting = threading.Thread(target=other)
    with lock(jobs):
        job = create_job(jobs, "stage_c", SHARDS)
        waiting.start()
        time.sleep(0.1)
        assert job.folder.exists() and not found
        intend(job, "", gate="stage_c", shards=2)
    waiting.join()
    assert found == [[job]]


def test_the_lock_makes_the_folder_and_is_let_go_of_after_an_error(tmp_path: Path):
    jobs = tmp_path / "new" / "jobs"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), lock(jobs):
            _ = 1 / 0


# --- what array tasks note


def test_the_latest_attempt_is_the_one_with_the_highest_restart(jobs: Path):
    job = make_job(jobs)
    for restart in (9, 10, 2):
        job.note(1, Attempt("473_1", f"c{restart}", restart, 5.0, ("a", "b")))
    job.note(0, Attempt("473_0", "c1", 11, 5.0))
    found = job.attempt(1)
    assert found == Attempt("473_1", "c10", 10, 5.0, ("a", "b"))


def test_an_earlier_attempt_can_be_asked_for(jobs: Path):
    job = make_job(jobs)
    for restart in (0, 2):
        job.note(1, Attempt("473_1", f"c{restart}", restart, 5.0))
    assert [attempt and attempt.node for attempt in (job.attempt(1, 0), job.attempt(1, 1), job.attempt(1, 2))] == [
        "c0",
        None,
        "c2",
    ]
    assert job.attempt(11) is None


def test_a_note_that_is_just_replaced_is_asked_for_again(jobs: Path, monkeypatch: pytest.MonkeyPatch):
    """NFS: `Stale file handle`."""
    job = make_job(jobs)
    job.note(0, Attempt("473_0", "c1", 0, 5.0))
    read, errors = Path.read_text, [OSError(116, "Stale file handle"), OSError(116, "Stale file handle")]

    def read_text(file: Path) -> str:
        if errors:
            raise errors.pop()
        return read(file)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert job.attempt(0) == Attempt("473_0", "c1", 0, 5.0)


def test_a_note_replaces_the_same_attempts(jobs: Path):
    job = make_job(jobs)
    job.note(0, Attempt("473_0", "c1", 0, 5.0, ("a",)))
    ended = Attempt("473_0", "c1", 0, 5.0, (), 6.0, "done")
    job.note(0, ended)
    assert job.attempt(0) == ended
    assert job.attempt(1) is None
    assert [file.name for file in (job.folder / "attempts").iterdir()] == ["0.0.json"]


def test_a_note_that_is_being_written_is_not_read(jobs: Path):
    job = make_job(jobs)
    job.note(1, Attempt("473_1", "c1", 0, 5.0))
    (job.folder / "attempts" / ".1.1.json.4711").write_text('{"id": "47')
    found = job.attempt(1)
    assert found is not None and found.restart == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, ""),
        ("", ""),
        ("\n \n", ""),
        ("Loading\nbash: exec: python: not found\n\n", "bash: exec: python: not found"),
        ("x" * 500, "x" * 200),
    ],
)
def test_the_last_words_are_the_last_line_of_the_log(jobs: Path, text: str | None, words: str):
    job = make_job(jobs)
    if text is not None:
        job.log(0).write_text(text)
    assert job.last_words(0) == words


def test_last_words_that_are_no_text_do_no_harm(jobs: Path):
    job = make_job(jobs)
    job.log(0).write_bytes(b"Killed \xff\n")
    assert job.last_words(0).startswith("Killed")


def test_a_shard_is_readable_by_people(jobs: Path):
    data = json.loads((make_job(jobs).folder / "shards" / "1.json").read_text())
    history = {"tries": 1, "kills": 1, "causes": ["473_0: lost", "474_1: é|"]}
    item = {"key": "c", "group": "h", "cost": 1.0, "batch": 1, "timeout_s": 0.0}
    assert data["items"] == [{**item, "fingerprint": "fc", **history}]
