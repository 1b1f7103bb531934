"""Labelled examples of a benchmark, and what its readers share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sbench_dag.errors import InputError, SbenchError
from sbench_dag.rewards.example import LabelledExample
from sbench_dag.rewards.score import HIGHEST, LOWEST

_SOURCE_EPISODE = re.compile(r".*?_index_\d+")
_SHOWN = 20


class BadRowsError(SbenchError):
    """Rows that can't be used, all of them named. Their labels are unknown, so no denominator would be right."""

    def __init__(self, problems: Sequence[InputError]):
        self.problems = tuple(problems)
        lines = [str(problem) for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            lines.append(f"and {len(problems) - _SHOWN} more")
        super().__init__("\n".join(lines))


@dataclass(frozen=True)
class BenchData:
    """name: where it came from. missing: a line for each video that is not there; its example is, for its label."""

    name: str
    examples: tuple[LabelledExample, ...]
    missing: tuple[str, ...] = ()


def cluster_of(stem: str) -> str:
    """The source episode that a video was made of, by its name.

    Open X-Embodiment's names say it: `bridge_originalsplit_train_index_1811_attempt_2_score_3` and `..._index_1811_1`
    are of `bridge_originalsplit_train_index_1811`. Any other name is an episode of its own.
    """
    found = _SOURCE_EPISODE.match(stem)
    return found[0] if found else stem


def label_of(file: Path, where: str, value: object) -> int:
    """A whole number from 1 to 5, also as text or with a zero behind its point, as tables on their way make them.

    Raises:
        InputError: anything else.
    """
    wanted = InputError(file, where, value, f"expected a whole number from {LOWEST} to {HIGHEST}")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wanted
    try:
        number = float(value)
    except ValueError:
        raise wanted from None
    if not (LOWEST <= number <= HIGHEST and number.is_integer()):
        raise wanted
    return int(number)


def video_path(file: Path, where: str, root: Path, name: str) -> Path:
    """root / name, which must stay inside. Links are not followed: the Hub's cache is made of them.

    Raises:
        InputError: it points elsewhere.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise InputError(file, where, name, "expected a path inside the data set's folder")
    return root / path


def checked(name: str, file: Path, examples: Sequence[LabelledExample], problems: Sequence[InputError]) -> BenchData:
    """The data, if no row was bad. Videos that are not there are named and stop nothing.

    Raises:
        BadRowsError: with all problems.
    """
    if not examples and not problems:
        problems = [InputError(file, "rows", 0, "no examples in it")]
    if problems:
        raise BadRowsError(problems)
    missing = [
        f"{file}: {labelled.example.id}: the video {labelled.example.video} is not there"
        for labelled in examples
        if not labelled.example.video.is_file()
    ]
    return BenchData(name, tuple(examples), tuple(missing))
