"""What Slurm's commands print, and what it means. The commands are stubs; what they print was seen on Slurm 22.05."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

import pytest

from sbench_dag.cluster.slurm.client import (
    Client,
    RefusedError,
    Status,
    UnreachableError,
    is_held,
    is_live,
    is_over,
    is_stuck,
    waits_for_somebody,
)
from sbench_dag.errors import SetupError

DISABLED = "Slurm accounting storage is disabled"
DOWN = "squeue: error: Unable to contact slurm controller (connect failure)"


class Commands:
    """Programs in a folder that is first on PATH. Each notes its arguments and its environment."""

    def __init__(self, folder: Path):
        self.folder = folder

    def put(self, name: str, output: str = "", error: str = "", code: int = 0, before: str = "") -> None:
        note = self.folder / name
        lines = [
            "#!/bin/sh",
            f"printf '%s\\n' \"$@\" >> {note}.arguments; env > {note}.environment",
            before,
            f"printf %s {shlex.quote(output)}; printf %s {shlex.quote(error)} >&2; exit {code}",
        ]
        note.write_text("\n".join(lines))
        note.chmod(0o755)

    def arguments(self, name: str) -> list[str]:
        return (self.folder / f"{name}.arguments").read_text().splitlines()

    def environment(self, name: str) -> dict[str, str]:
        lines = (self.folder / f"{name}.environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Commands(folder)


def queued(commands: Commands, *lines: str) -> dict[tuple[str, int], Status]:
    """What becomes of lines of squeue."""
    commands.put("squeue", "".join(f"{line}\n" for line in lines))
    return Client().queue(["ours", "other"])


def accounted(commands: Commands, *lines: str) -> dict[tuple[str, int], Status]:
    """What becomes of lines of sacct, asked for two arrays of ours."""
    commands.put("sacct", "".join(f"{line}\n" for line in lines))
    found = Client().accounting({"473": "ours", "487": "other"})
    assert found is not None
    return found


def submit(commands: Commands, output: str = "", error: str = "", code: int = 0) -> str | None:
    commands.put("sbatch", output, error, code)
    return Client().submit(Path("job.sh"))


# --- squeue


def test_a_running_and_a_waiting_task(commands: Commands):
    found = queued(
        commands,
        "ours|473_5|RUNNING|c1|None",
        "ours|473_6|PENDING||Resources",
    )
    assert found == {
        ("ours", 5): Status("473_5", "RUNNING", "None", "c1"),
        ("ours", 6): Status("473_6", "PENDING", "Resources"),
    }


def test_squeue_is_asked_once_for_all_jobs_and_each_task_by_itself(commands: Commands):
    queued(commands)
    asked = commands.arguments("squeue")
    assert "--name=ours,other" in asked
    assert {f"--user={os.getuid()}", "-h", "-r"} <= set(asked)
    assert asked[asked.index("-o") + 1] == "%j|%i|%T|%N|%r"
    assert asked[asked.index("-t") + 1] == "all", "also what is over"


def test_jobs_in_a_hidden_partition_are_asked_for_too(commands: Commands):
    queued(commands)
    assert "--all" in commands.arguments("squeue")


@pytest.mark.parametrize(
    ("task", "indices"),
    [
        ("473_[7-9%2]", {7, 8, 9}),
        ("473_[0-2,7%2]", {0, 1, 2, 7}),
        ("473_[4]", {4}),
        ("473_[1-7:3]", {1, 4, 7}),
        ("473_[3,10,6...]", {3, 10}),
        ("473", set()),
    ],
)
def test_one_line_may_stand_for_many_tasks(commands: Commands, task: str, indices: set[int]):
    found = queued(commands, f"ours|{task}|PENDING||JobArrayTaskLimit")
    assert set(found) == {("ours", index) for index in indices}


def test_a_reason_may_have_spaces_and_bars(commands: Commands):
    found = queued(
        commands,
        "ours|473_5|PENDING||launch failed requeued held",
        "ours|473_6|PENDING||wait | see",
    )
    assert found["ours", 5].reason == "launch failed requeued held"
    assert found["ours", 6].reason == "wait | see"


def test_an_id_that_has_been_given_to_another_job_is_not_ours(commands: Commands):
    assert ("ours", 0) not in queued(commands, "other|473_0|RUNNING|c1|None")


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_arrays_of_one_name_the_live_one_counts(commands: Commands, order: int):
    lines = ["ours|473_0|CANCELLED||None", "ours|474_0|RUNNING|c1|None"]
    assert queued(commands, *lines[::order])["ours", 0].id == "474_0"


def test_lines_that_are_no_tasks_are_skipped(commands: Commands):
    """With SLURM_CLUSTERS, squeue says which cluster it speaks of."""
    assert queued(commands, "CLUSTER: big", "", "ours|473_0|RUNNING|c1|None").keys() == {("ours", 0)}


def test_nothing_in_the_queue_is_an_answer(commands: Commands):
    assert queued(commands) == {}


# --- sacct


def test_rows_of_the_accounting(commands: Commands):
    found = accounted(
        commands,
        "473_0|COMPLETED|0:0|ours",
        "473_1|FAILED|42:0|ours",
        "473_2|CANCELLED by 0|0:0|ours",
        "487_[0-1,3]|PENDING|0:0|other",
    )
    assert found == {
        ("ours", 0): Status("473_0", "COMPLETED"),
        ("ours", 1): Status("473_1", "FAILED", "exit code 42:0"),
        ("ours", 2): Status("473_2", "CANCELLED"),
        **{("other", index): Status("487_[0-1,3]", "PENDING") for index in (0, 1, 3)},
    }


def test_every_second_task_of_an_array(commands: Commands):
    assert set(accounted(commands, "487_[0-4:2]|CANCELLED by 0|0:0|other")) == {("other", i) for i in (0, 2, 4)}


def test_an_array_with_gaps_is_named_whole(commands: Commands):
    """Slurm would cut `473_[3,10,12,18-21,...]` off after 64 characters."""
    accounted(commands)
    assert commands.environment("sacct")["SLURM_BITSTR_LEN"] == "0"


@pytest.mark.parametrize("name", ["somebody's", "a|b", "other"])
def test_an_id_that_is_somebody_elses_by_now_is_passed_over(commands: Commands, name: str):
    assert accounted(commands, f"473_0|FAILED|1:0|{name}", "473_1|FAILED|1:0|ours").keys() == {("ours", 1)}


def test_a_site_without_accounting(commands: Commands):
    commands.put("sacct", error=DISABLED, code=1)
    assert Client().accounting({"473": "ours"}) is None


def test_a_site_without_the_program_has_no_accounting_either(commands: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(commands.folder))
    assert Client().accounting({"473": "ours"}) is None


def test_a_row_without_a_state_is_of_an_unknown_one(commands: Commands):
    assert accounted(commands, "473_0||0:0|ours") == {("ours", 0): Status("473_0", "UNKNOWN")}


def test_an_accounting_that_is_down_is_not_a_missing_one(commands: Commands):
    commands.put("sacct", error="sacct: error: slurm_persist_conn_open_without_init: Connection refused", code=1)
    with pytest.raises(UnreachableError, match="Connection refused"):
        Client().accounting({"473": "ours"})


# --- sbatch


@pytest.mark.parametrize(
    "output",
    [
        "473\n",
        "473;cluster\n",
        "Submitted batch job 473\n",
        "welcome to 2 clusters\n\nSubmitted batch job 473\nyou have 12 GPU hours left\n",
        "submitting for you\n473\nbye\n",
        "Submitted batch job 473 on cluster big\n12\n",
        "12\n473\n",
        "12\nSubmitted batch job 473\n13\n",
        "Submitted batch job 472\nSubmitted batch job 473\n",
    ],
)
def test_the_id_is_found_in_whatever_a_wrapper_prints(commands: Commands, output: str):
    assert submit(commands, output) == "473"


@pytest.mark.parametrize("output", ["", "done\n", "you have 12 GPU hours left\n"])
def test_a_wrapper_that_does_not_print_the_id(commands: Commands, output: str):
    assert submit(commands, output) is None


@pytest.mark.parametrize("output", ["473\n", "Submitted batch job 473\nmail could not be sent\n"])
def test_a_wrapper_that_fails_after_the_submission_has_submitted(commands: Commands, output: str):
    assert submit(commands, output, error="Unable to contact the mail server", code=1) == "473"


def test_options_and_script_are_put_behind_a_submit_command_of_several_words(commands: Commands):
    commands.put("sbm", "473\n")
    options = ["--job-name=ours", "--comment=for you"]
    assert Client(("sbm", "--as", "two words")).submit(Path("a folder/job.sh"), options) == "473"
    assert commands.arguments("sbm") == ["--as", "two words", "--parsable", *options, "a folder/job.sh"]


@pytest.mark.parametrize(
    "text",
    [
        "sbatch: error: invalid partition specified: gpus",
        "sbatch: error: invalid partition specified: standby",
        "sbatch: error: QOSMaxSubmitJobPerUserLimit",
    ],
)
def test_a_refusal_is_told_in_slurms_words(commands: Commands, text: str):
    with pytest.raises(RefusedError, match=text):
        submit(commands, error=text, code=1)


def test_a_refusal_of_a_wrapper_that_prints_everything_on_stdout(commands: Commands):
    with pytest.raises(RefusedError, match="no such project"):
        submit(commands, output="no such project", code=3)


@pytest.mark.parametrize(
    "text",
    [
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
        "sbatch: error: Batch job submission failed: Slurm backup controller in standby mode",
        "sbatch: error: Batch job submission failed: Protocol authentication error",
        "sbatch: error: Batch job submission failed: Invalid job credential",
        "sbatch: error: Batch job submission failed: Transport endpoint is not connected",
        "sbatch: error: If munged is up, restart with --num-threads=10",
        "sbatch: fatal: DNS SRV lookup failed",
        "sbatch: error: Slurm controller not responding, please try again later",
    ],
)
def test_a_submission_without_an_answer_may_have_arrived(commands: Commands, text: str):
    with pytest.raises(UnreachableError):
        submit(commands, error=text, code=1)


# --- scancel


def test_jobs_are_cancelled_by_name_one_by_one_and_tasks_by_id(commands: Commands):
    """To scancel `--name=ours,other` is one name, and that there is no such job no error."""
    commands.put("scancel")
    Client().cancel("ours", "other")
    me = f"--user={os.getuid()}"
    assert commands.arguments("scancel") == [me, "--name=ours", me, "--name=other"]
    Client().cancel_task("473_5")
    assert commands.arguments("scancel")[-1] == "473_5"


@pytest.mark.parametrize("text", ["Invalid job id specified", "Job/step already completing or completed"])
def test_cancelling_what_is_gone_is_no_error(commands: Commands, text: str):
    """scancel of 22.05 says so and exits with 0; other versions exit with 1."""
    commands.put("scancel", error=f"scancel: error: Kill job error on job id 473_5: {text}", code=1)
    Client().cancel_task("473_5")
    Client().cancel("ours")


def test_cancelling_without_an_answer_is_one(commands: Commands):
    commands.put("scancel", error=DOWN, code=1)
    with pytest.raises(UnreachableError):
        Client().cancel_task("473_5")


# --- any of them


def test_a_controller_that_is_down_says_nothing_about_jobs(commands: Commands):
    commands.put("squeue", error=DOWN, code=1)
    with pytest.raises(UnreachableError, match="Unable to contact"):
        Client().queue(["ours"])


def test_a_command_that_hangs_is_not_waited_for(commands: Commands):
    commands.put("squeue", before="exec sleep 20")
    started = time.monotonic()
    with pytest.raises(UnreachableError, match=r"squeue: no answer within 0\.5 s"):
        Client(call_s=0.5).queue(["ours"])
    assert time.monotonic() - started < 5


def test_a_wrapper_whose_child_hangs_is_not_waited_for_either(commands: Commands):
    commands.put("squeue", before="sleep 2")
    started = time.monotonic()
    with pytest.raises(UnreachableError):
        Client(call_s=0.2).queue(["ours"])
    assert time.monotonic() - started < 1.5


def test_without_slurms_programs_it_says_what_is_missing():
    with pytest.raises(SetupError, match="no command 'no-such-sbatch' here"):
        Client(("no-such-sbatch",)).submit(Path("job.sh"))


def test_what_is_set_for_a_surrounding_job_or_for_people_does_not_reach_the_commands(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
):
    for name in ("SLURM_JOB_ID", "SLURM_CPUS_PER_TASK", "SQUEUE_PARTITION", "SCANCEL_STATE", "SACCT_FORMAT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("SLURM_CONF", "/site/slurm.conf")
    monkeypatch.setenv("SLURM_CLUSTERS", "big")
    queued(commands)
    passed = commands.environment("squeue")
    assert {name for name in passed if name.startswith(("SQUEUE", "SCANCEL", "SACCT"))} == set()
    assert {name: passed[name] for name in passed if name.startswith("SLURM_")} == {
        "SLURM_CONF": "/site/slurm.conf",
        "SLURM_CLUSTERS": "big",
        "SLURM_BITSTR_LEN": "0",
    }
    assert "HOME" in passed


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        ("PENDING", "Resources", "live"),
        ("PENDING", "BeginTime", "live"),
        ("RUNNING", "None", "live"),
        ("COMPLETING", "None", "live"),
        ("REQUEUED", "", "live"),
        ("SUSPENDED", "None", "live"),
        ("PENDING", "Dependency", "live"),
        ("PENDING", "DependencyNeverSatisfied", "stuck"),
        ("PENDING", "launch failed requeued held", "stuck"),
        ("PENDING", "launch_failed_requeued_held", "stuck"),
        ("PENDING", "job requeued in held state", "stuck"),
        ("PENDING", "BadConstraints", "stuck"),
        ("PENDING", "JobHeldUser", "live held"),
        ("PENDING", "JobHeldAdmin", "live held"),
        ("REQUEUE_HOLD", "", "live held"),
        ("SPECIAL_EXIT", "", "live held"),
        ("RESV_DEL_HOLD", "", "live held"),
        ("REQUEUE_FED", "", "live"),
        ("A_NEWER_SLURMS", "", "live"),
        ("UNKNOWN", "", "live"),
        ("COMPLETED", "None", "over"),
        ("FAILED", "NonZeroExitCode", "over"),
        ("FAILED", "BadConstraints", "over"),
        ("CANCELLED", "JobHeldUser", "over"),
        ("CANCELLED", "DependencyNeverSatisfied", "over"),
        ("TIMEOUT", "TimeLimit", "over"),
        ("OUT_OF_MEMORY", "OutOfMemory", "over"),
        ("NODE_FAIL", "NodeDown", "over"),
        ("PREEMPTED", "None", "over"),
        ("BOOT_FAIL", "", "over"),
        ("DEADLINE", "DeadLine", "over"),
        ("REVOKED", "", "over"),
    ],
)
def test_what_a_state_and_its_reason_mean(state: str, reason: str, expected: str):
    status = Status("473_5", state, reason)
    meanings = {"live": is_live, "stuck": is_stuck, "held": is_held, "over": is_over}
    assert " ".join(name for name, holds in meanings.items() if holds(status)) == expected


@pytest.mark.parametrize(
    ("state", "reason", "waits"),
    [
        ("PENDING", "", False),
        ("PENDING", "None", False),
        ("PENDING", "Resources", False),
        ("PENDING", "Priority", False),
        ("PENDING", "BeginTime", False),
        ("PENDING", "JobArrayTaskLimit", False),
        ("PENDING", "Dependency", False),
        ("PENDING", "PartitionTimeLimit", True),
        ("PENDING", "QOSMaxGRESPerUser", True),
        ("PENDING", "ReqNodeNotAvail, UnavailableNodes:c1", True),
        ("PENDING", "Reservation", True),
        ("RUNNING", "PartitionTimeLimit", False),
        ("CANCELLED", "PartitionTimeLimit", False),
    ],
)
def test_who_waits_for_more_than_their_turn(state: str, reason: str, waits: bool):
    assert waits_for_somebody(Status("473_5", state, reason)) is waits
