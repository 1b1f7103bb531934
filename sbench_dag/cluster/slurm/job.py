"""One array of shards, as it lies in the study's folder: all that a later orchestrator has to know of it.

<study>/jobs/<name>/job.json            written before the submission: what was meant to be submitted
                    submitted.json      written after it: the array's id
                    job.sh              what is submitted
                    shards/<i>.json     the tasks of array task i
                    attempts/<i>.<r>.json   what array task i did in its r-th restart, written by itself
                    given-up/<i>        array task i must not begin (any more): its tasks are elsewhere
                    closed              neither must any other; the reason
                    logs/<i>.log
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sbench_dag import files
from sbench_dag.files import write_whole
from sbench_dag.work.item import Task, WorkItem

BY_HAND = "cancelled by hand"


@dataclass(frozen=True)
class Piece:
    """A task in a shard, and its history.

    tries: earlier submissions that gave nothing. kills: array tasks that may have died of it. causes: why each ended.
    """

    task: Task
    tries: int = 0
    kills: int = 0
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """What an array task says of itself.

    started, ended: seconds since the epoch. running: keys that it was working on when this was written.
    end: `done`, `stopped` (asked to, by a signal), or `failed: why`; None while it runs, or if it was killed.
    """

    id: str
    node: str
    restart: int
    started: float
    running: tuple[str, ...] = ()
    ended: float | None = None
    end: str | None = None


@dataclass(frozen=True)
class Job:
    """Handle on a folder under `<study>/jobs`."""

    folder: Path

    @property
    def name(self) -> str:
        """The job's name in Slurm, unique."""
        return self.folder.name

    @cached_property
    def intent(self) -> dict:
        return json.loads((self.folder / "job.json").read_text())

    @property
    def study(self) -> Path:
        return self.folder.parents[1]

    @property
    def gate(self) -> str:
        return self.intent["gate"]

    @property
    def written(self) -> float:
        return self.intent["written"]

    @property
    def count(self) -> int:
        return self.intent["shards"]

    @property
    def script(self) -> Path:
        return self.folder / "job.sh"

    def log(self, index: int) -> Path:
        return self.folder / "logs" / f"{index}.log"

    @cached_property
    def shards(self) -> list[list[Piece]]:
        return [self.shard(index) for index in range(self.count)]

    def shard(self, index: int) -> list[Piece]:
        data = json.loads((self.folder / "shards" / f"{index}.json").read_text())
        return [
            Piece(
                Task(
                    WorkItem(i["key"], i["group"], i["cost"], i.get("batch", 1), i.get("timeout_s", 0.0)),
                    i["fingerprint"],
                ),
                i["tries"],
                i["kills"],
                tuple(i["causes"]),
            )
            for i in data["items"]
        ]

    # --- what the orchestrator notes

    def submitted(self, id: str) -> None:
        write_whole(self.folder / "submitted.json", json.dumps({"id": id, "time": time.time()}))

    @property
    def submission(self) -> tuple[str, float] | None:
        """The array's id and when it was submitted, if that is known."""
        data = _read_json(self.folder / "submitted.json")
        return (data["id"], data["time"]) if data else None

    @property
    def id(self) -> str | None:
        submission = self.submission
        return submission[0] if submission else None

    def give_up(self, index: int, why: str) -> None:
        (self.folder / "given-up" / str(index)).write_text(why)

    def is_given_up(self, index: int) -> bool:
        return (self.folder / "given-up" / str(index)).exists() or self.is_closed

    def close(self, why: str) -> None:
        (self.folder / "closed").write_text(why)

    def reopen(self) -> None:
        (self.folder / "closed").unlink(missing_ok=True)

    @property
    def is_closed(self) -> bool:
        return (self.folder / "closed").exists()

    @property
    def is_cancelled_by_hand(self) -> bool:
        return self.is_closed and (self.folder / "closed").read_text() == BY_HAND

    # --- what its tasks note

    def is_of(self, array: str) -> bool:
        """Whether the job is that array's. The first that asks gets it: Slurm may have taken one script twice."""
        try:
            with (self.folder / "array").open("x") as file:
                file.write(array)
            return True
        except FileExistsError:
            return (self.folder / "array").read_text() in (array, "")

    def note(self, index: int, attempt: Attempt) -> None:
        file = self.folder / "attempts" / f"{index}.{attempt.restart}.json"
        write_whole(file, json.dumps(dataclasses.asdict(attempt)))

    def attempt(self, index: int, restart: int | None = None) -> Attempt | None:
        """An attempt at a shard, by default the latest; None if it has not begun."""
        folder = self.folder / "attempts"
        if restart is None:
            restart = max((int(file.name.split(".")[1]) for file in folder.glob(f"{index}.*.json")), default=0)
        data = _read_json(folder / f"{index}.{restart}.json")
        return Attempt(**{**data, "running": tuple(data["running"])}) if data else None

    def last_words(self, index: int) -> str:
        """The last line of the task's log: what a program that could not begin says there."""
        try:
            lines = self.log(index).read_text(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip()[-200:] for line in reversed(lines) if line.strip()), "")


def create_job(jobs: Path, gate: str, shards: Sequence[Sequence[Piece]]) -> Job:
    """Writes all but the script and the intent; `intend` completes it."""
    stem = re.sub(r"[^A-Za-z0-9-]", "-", f"{jobs.parent.name}-{gate}")[:60]
    # Slurm finds jobs by this name: it must not be that of a study of the same name elsewhere, or deleted since
    folder = jobs / f"sbench-{stem}-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    for name in ("shards", "attempts", "logs", "given-up"):
        (folder / name).mkdir()
    for index, shard in enumerate(shards):
        items = [{**vars(p.task.item), "fingerprint": p.task.fingerprint, **_history(p)} for p in shard]
        (folder / "shards" / f"{index}.json").write_text(json.dumps({"items": items}))
    return Job(folder)


def _history(piece: Piece) -> dict[str, object]:
    return {"tries": piece.tries, "kills": piece.kills, "causes": piece.causes}


def intend(job: Job, script: str, **intent: object) -> None:
    """From here on a later orchestrator knows of the job, whether or not it gets submitted."""
    job.script.write_text(script)
    write_whole(job.folder / "job.json", json.dumps({"written": time.time(), **intent}))


def open_jobs(jobs: Path, gate: str | None = None) -> list[Job]:
    """The jobs that may still have something to do, the newest first."""
    found = [Job(file.parent) for file in jobs.glob("*/job.json") if not (file.parent / "closed").exists()]
    chosen = [job for job in found if gate in (None, job.gate)]
    return sorted(chosen, key=lambda job: job.written, reverse=True)


@contextmanager
def lock(jobs: Path) -> Iterator[None]:
    """One orchestrator at a time looks for what is missing and submits it. A process that dies lets go of it.

    Raises:
        SetupError: the file system has no locks.
    """
    jobs.mkdir(parents=True, exist_ok=True)
    with (jobs / "lock").open("w") as file:
        files.lock(file)
        yield


def _read_json(file: Path) -> dict | None:
    """None if there is no such file. A network file system may need to be asked again for one that is just replaced."""
    for _ in range(5):
        try:
            return json.loads(file.read_text())
        except FileNotFoundError:
            return None
        except OSError:
            time.sleep(0.2)
    return json.loads(file.read_text())
