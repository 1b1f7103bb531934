"""RoboReward's layout: `<split>/metadata.jsonl`, with the videos in a folder per subset beside it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from sbench_dag.dataset.fields import get
from sbench_dag.errors import InputError
from sbench_dag.rewards.bench.data import BenchData, checked, cluster_of, label_of, video_path
from sbench_dag.rewards.bench.lines import jsonl
from sbench_dag.rewards.example import Example, LabelledExample

METADATA = "metadata.jsonl"


def read_roboreward(folder: Path, name: str) -> BenchData:
    """folder: a split's, with its metadata.jsonl.

    Each line has `file_name` (`<subset>/<video>.mp4`), `task` and `reward`. `cluster`, the source episode, is for names
    that do not say it; one name is one episode, also in several subsets. Other fields are left alone. The id is the
    file's name without its suffix.

    Raises:
        BadRowsError: what is wrong in any line.
    """
    file = folder / METADATA
    examples: list[LabelledExample] = []
    problems: list[InputError] = []
    lines: dict[str, str] = {}
    for where, row in jsonl(file):
        try:
            if isinstance(row, InputError):
                raise row
            labelled = _example(file, where, row)
            first = lines.setdefault(labelled.example.id, where)
            if first != where:
                raise InputError(file, f"{where}.file_name", row["file_name"], f"already in {first}")
        except InputError as problem:
            problems.append(problem)
        else:
            examples.append(labelled)
    return checked(name, file, examples, problems)


def example_id(file_name: str) -> str:
    """`<subset>/<video>`, of a file_name."""
    return str(PurePosixPath(file_name).with_suffix(""))


def _example(file: Path, where: str, row: dict[str, Any]) -> LabelledExample:
    name = get(file, row, "file_name", str, where)
    video = video_path(file, f"{where}.file_name", file.parent, name)
    parts = PurePosixPath(name).parts
    if len(parts) < 2:
        raise InputError(file, f"{where}.file_name", name, "expected <subset>/<video>: its folder is its subset")
    task = get(file, row, "task", str, where)
    get(file, row, "reward", (int, float, str), where)
    label = label_of(file, f"{where}.reward", row["reward"])
    cluster = get(file, row, "cluster", str, where) if "cluster" in row else f"{parts[0]}/{cluster_of(video.stem)}"
    return LabelledExample(Example(example_id(name), video, task), label, parts[0], cluster)
