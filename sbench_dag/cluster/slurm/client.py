"""Slurm's commands: sbatch, squeue, sacct, scancel. Text formats only, which all versions print alike."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbench_dag.errors import SetupError

CALL_S = 30.0  # squeue blocks for longer than that when the controller is down
SUBMIT_S = 120.0


class UnreachableError(Exception):
    """Slurm did not answer; it may do so later. Nothing is known about any job."""


class RefusedError(SetupError):
    """Slurm answered that it will not take this job, now or later."""


@dataclass(frozen=True)
class Status:
    """An array task as Slurm sees it. `state` is one word, `reason` why it waits or how it ended."""

    id: str
    state: str
    reason: str = ""
    node: str = ""


TaskKey = tuple[str, int]  # the job's name and the task's index


@dataclass(frozen=True)
class Client:
    """submit: the submit command as argv; options and script are put behind it."""

    submit_command: Sequence[str] = ("sbatch",)
    call_s: float = CALL_S

    def submit(self, script: Path, options: Sequence[str] = ()) -> str | None:
        """The new array's id, or None where a site's wrapper does not print one.

        options: those of the script, once more: a wrapper's and the environment's are weaker than these.

        Raises:
            RefusedError: Slurm does not want it; the text is Slurm's.
            UnreachableError: it is not known whether the job was taken. Look for its name before trying again.
        """
        command = [*self.submit_command, "--parsable", *options, str(script)]
        done = _call(command, SUBMIT_S)
        id = _printed_id(done.stdout)
        if done.returncode == 0 or (id and "error" not in done.stderr):
            return id  # what a wrapper does after the submission may fail
        text = (done.stderr.strip() or done.stdout.strip())[-500:]
        if _MAY_PASS.search(text):
            raise UnreachableError(text)
        raise RefusedError(f"{command[0]} refused {script}: {text}")

    def queue(self, names: Sequence[str]) -> dict[TaskKey, Status]:
        """What Slurm still knows of the tasks of these jobs, in one call. Other jobs with the same ids are not ours.

        Raises:
            UnreachableError: no answer; that a task is missing in an answer says more.
        """
        form = "%j|%i|%T|%N|%r"  # free text last
        # --all: partitions that a site hides from this user's squeue run jobs none the less
        command = ["squeue", "--all", _me(), "-h", "-r", "-t", "all", f"--name={','.join(names)}", "-o", form]
        done = self._ask(command)
        found = {}
        for line in done.splitlines():
            if line.count("|") < 4:
                continue  # the name of the cluster, where there are several
            name, task, state, node, reason = line.split("|", 4)
            # the same name twice: an array that Slurm had taken although it looked as if it had not
            for index in _indices(task):
                known = found.get((name, index))
                if known is None or not is_live(known):
                    found[name, index] = Status(task, state, reason, node)
        return found

    def accounting(self, names_by_id: dict[str, str]) -> dict[TaskKey, Status] | None:
        """What the accounting knows of arrays, by their ids; None on a site without accounting.

        Raises:
            UnreachableError: there is an accounting, but it does not answer.
        """
        fields = "JobID,State,ExitCode,JobName"  # somebody else's job may have bars in its name
        command = ["sacct", "-X", "-n", "-P", "-j", ",".join(names_by_id), "-o", fields]
        try:
            text = self._ask(command)
        except SetupError:
            return None  # there is no such program here
        except UnreachableError as error:
            if "accounting storage is disabled" in str(error):
                return None
            raise
        found = {}
        for line in text.splitlines():
            task, state, code, name = line.split("|", 3)
            if names_by_id.get(task.split("_")[0]) != name:
                continue  # the id was given to somebody else's job
            word = state.split()[0] if state else "UNKNOWN"
            for index in _indices(task):
                found[name, index] = Status(task, word, "" if code == "0:0" else f"exit code {code}")
        return found

    def cancel(self, *names: str) -> None:
        """Cancels whole jobs by name: also those whose id is not known."""
        for name in names:  # scancel takes `a,b` for one name
            self._cancel(_me(), f"--name={name}")

    def cancel_task(self, task: str) -> None:
        """Cancels one array task, `473_5`."""
        self._cancel(task)

    def _cancel(self, *what: str) -> None:
        try:
            self._ask(["scancel", *what])
        except UnreachableError as error:
            if not _GONE.search(str(error)):  # that is as good; some versions fail then, some do not
                raise

    def _ask(self, command: Sequence[str]) -> str:
        done = _call(command, self.call_s)
        if done.returncode:
            raise UnreachableError(f"{command[0]}: {(done.stderr.strip() or f'exit code {done.returncode}')[-300:]}")
        return done.stdout


_MAY_PASS = re.compile(
    r"unable to contact|timed out|connect(ion)? (failure|refused)|not connected|temporarily|communication|rate.?limit"
    r"|zero bytes|in standby|munge|authenticat|credential|dns srv|try again",
    re.IGNORECASE,
)
_GONE = re.compile(r"invalid job id|already complet", re.IGNORECASE)
# a state that a newer Slurm brings is taken for one that goes on
_OVER = {
    "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED",
    "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL",
}  # fmt: skip
_NEVER = ("dependencyneversatisfied", "launchfailedrequeuedheld", "jobrequeuedinheldstate", "badconstraints")
_HELD = ("jobhelduser", "jobheldadmin")
_PATIENT = ("none", "resources", "priority", "begintime", "jobarraytasklimit", "dependency", "")
_HELD_STATES = ("REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")


def is_live(status: Status) -> bool:
    """Whether a task runs, or may run without anybody's doing."""
    return not is_over(status) and not is_stuck(status)


def is_stuck(status: Status) -> bool:
    """A task that Slurm keeps but will never run."""
    return not is_over(status) and _letters(status.reason) in _NEVER


def is_held(status: Status) -> bool:
    """Somebody holds it, and may let it go."""
    return status.state in _HELD_STATES or (status.state == "PENDING" and _letters(status.reason) in _HELD)


def waits_for_somebody(status: Status) -> bool:
    """It waits for more than its turn: for a limit, a reservation, a node that is down."""
    return status.state == "PENDING" and _letters(status.reason) not in _PATIENT


def is_over(status: Status) -> bool:
    """Nothing of it runs, and nothing will."""
    return status.state in _OVER


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def _environment() -> dict[str, str]:
    """Without what this process itself was started with, if it runs in a job, and without people's own defaults:
    SQUEUE_PARTITION would hide jobs.
    """
    others = ("SLURM_", "SQUEUE_", "SACCT_", "SCANCEL_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(others) or k in ("SLURM_CONF", "SLURM_CLUSTERS")}
    return {**kept, "SLURM_BITSTR_LEN": "0"}  # `473_[3,10,12,...]` in full


def _call(command: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env=_environment(),
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise SetupError(
            f"there is no command {command[0]!r} here. Submitting to Slurm needs its client programs; "
            "docs/slurm.md says how to try it without a cluster"
        ) from None
    except subprocess.TimeoutExpired:
        raise UnreachableError(f"{command[0]}: no answer within {timeout:g} s") from None


def _me() -> str:
    return f"--user={os.getuid()}"  # --me is newer than some sites, and $USER may be anybody


def _printed_id(text: str) -> str | None:
    """`Submitted batch job 473` or `473`, `473;cluster`, wherever it stands in what a wrapper prints."""
    said = re.findall(r"^\s*Submitted batch job (\d+)", text, re.MULTILINE)
    bare = re.findall(r"^\s*(\d+)(?:;\S+)?\s*$", text, re.MULTILINE)
    return next(reversed(said or bare), None)


def _indices(task: str) -> Iterator[int]:
    """The task's index, `473_5`, or all that have not started yet, `473_[0-3,7%2]` or `473_[0-8:2]`."""
    _, _, rest = task.partition("_")
    for part in _ranges(rest.strip("[]").split("%")[0]):
        yield from part


def _ranges(text: str) -> Iterator[Iterable[int]]:
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if match:
            yield range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))
