"""Scores a benchmark into a file that keeps what is done, whatever ends the run.

The file is JSONL as `export.py` writes and `stored.py` reads, with two fields more: what the model's identity was
(`identity`), and what it was asked about (`asked`: instruction, prompt and the video's content). A line counts only
while both are still so. What is missing is asked again, since a server or a disk may be back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sbench_dag.errors import InputError, SetupError
from sbench_dag.files import lock, write_whole
from sbench_dag.rewards.bench.export import score_row
from sbench_dag.rewards.bench.lines import jsonl
from sbench_dag.rewards.bench.stored import score_of
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.base import RewardModel, identity_hash
from sbench_dag.rewards.score import Score, Status
from sbench_dag.work.fingerprint import fingerprint, sha256_if_there

Told = Callable[[Score, bool], None]
"""Is told of each score, and whether it was there before."""


def score_into(
    file: Path, name: str, model: RewardModel, examples: Sequence[Example], told: Told = lambda *_: None
) -> dict[str, Score]:
    """By the examples' ids. Each score is in the file as soon as the model gives it.

    Raises:
        SetupError: somebody else is writing the file, or it holds other scores than this model's.
    """
    identity = identity_hash(model)
    asked = {example.id: _asked(example) for example in examples}
    file.parent.mkdir(parents=True, exist_ok=True)
    with _alone(file):
        done = _still_valid(file, identity, asked)
        for score in done.values():
            told(score, True)
        new = [example for example in examples if example.id not in done]
        with file.open("a", encoding="utf-8") as lines:
            for example, score in zip(new, model.score(new) if new else (), strict=True):
                _append(lines, {**score_row(name, example.id, score), "identity": identity, "asked": asked[example.id]})
                done[example.id] = score
                told(score, False)
    return {example.id: done[example.id] for example in examples}


def _asked(example: Example) -> str:
    return fingerprint(example.task, example.prompt, sha256_if_there(example.video))


def _still_valid(file: Path, identity: str, asked: Mapping[str, str]) -> dict[str, Score]:
    """What need not be asked again. Leaves in the file that alone, and the scores of other examples."""
    if not file.exists():
        return {}
    kept, done = [], {}
    for where, row in jsonl(file):
        if isinstance(row, InputError):  # the line that was being written when the last run was killed
            continue
        if row.get("identity") != identity:
            raise SetupError(
                f"{file}: {where}: a score of another model or of other settings; name another file (--out)"
            )
        example = str(row.get("id"))
        if example not in asked:
            kept.append(row)
        elif row.get("asked") == asked[example] and row.get("status") != Status.MISSING:
            kept.append(row)
            done[example] = score_of(file, where, row)
    write_whole(file, "".join(_line(row) for row in kept))
    return done


def _append(lines: IO[str], row: Mapping[str, Any]) -> None:
    """In one write, so that a process that is killed leaves at most one line unfinished."""
    lines.write(_line(row))
    lines.flush()


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row) + "\n"


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    with file.with_name(f".{file.name}.lock").open("w") as held:
        if not lock(held, wait=False):
            raise SetupError(f"{file}: another process is writing it")
        yield
