"""HELM's form of RoboRewardBench: `final_test.json`, a list of conversations, each with the prompt that HELM asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sbench_dag.dataset.fields import get
from sbench_dag.errors import InputError
from sbench_dag.rewards.bench.data import BenchData, checked, cluster_of, label_of, video_path
from sbench_dag.rewards.bench.lines import read_text
from sbench_dag.rewards.example import Example, LabelledExample

FINAL_TEST = "final_test.json"
_VIDEO = "<video>"
_TASK = "Task:"


def read_final_test(file: Path, name: str) -> BenchData:
    """The id is HELM's, `<original_id>:<position in the file>`, so another release has other ids.

    Raises:
        BadRowsError: what is wrong in any entry.
        InputError: it is no list.
    """
    try:
        entries = json.loads(read_text(file))
    except ValueError as error:
        raise InputError(file, "json", str(error), "not valid JSON; is the file truncated?") from None
    if not isinstance(entries, list):
        raise InputError(file, "json", type(entries).__name__, "expected a list")
    examples: list[LabelledExample] = []
    problems: list[InputError] = []
    for index, entry in enumerate(entries):
        try:
            if not isinstance(entry, dict):
                raise InputError(file, f"[{index}]", entry, "expected an object")
            examples.append(_example(file, index, entry))
        except InputError as problem:
            problems.append(problem)
    return checked(name, file, examples, problems)


def _example(file: Path, index: int, entry: dict[str, Any]) -> LabelledExample:
    where = f"[{index}]"
    subset = get(file, entry, "subset", str, where)
    metadata = get(file, entry, "metadata", dict, where)
    get(file, metadata, "reward", (int, float, str), f"{where}.metadata")
    label = label_of(file, f"{where}.metadata.reward", metadata["reward"])
    original = get(file, metadata, "original_id", (str, int), f"{where}.metadata")
    turns = _texts(file, where, entry)
    if len(turns) > 1 and str(label) not in turns[1]:
        problem = f"expected the label, which is {label} in metadata.reward"
        raise InputError(file, f"{where}.conversations[1].value", turns[1], problem)
    videos = get(file, entry, "video", list, where)
    if len(videos) != 1 or not isinstance(videos[0], str):
        raise InputError(file, f"{where}.video", videos, "expected the path of one video")
    video = video_path(file, f"{where}.video[0]", file.parent, videos[0])
    prompt = turns[0].replace(_VIDEO, "").strip()
    task = prompt.rpartition(_TASK)[2].strip()
    return LabelledExample(
        Example(f"{original}:{index}", video, task, prompt), label, subset, f"{subset}/{cluster_of(video.stem)}"
    )


def _texts(file: Path, where: str, entry: dict[str, Any]) -> list[str]:
    turns = get(file, entry, "conversations", list, where)
    if not turns:
        raise InputError(file, f"{where}.conversations", turns, "expected a prompt in it")
    for i, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise InputError(file, f"{where}.conversations[{i}]", turn, "expected an object")
    return [get(file, turn, "value", str, f"{where}.conversations[{i}]") for i, turn in enumerate(turns)]
