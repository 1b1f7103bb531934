"""results.json: what a model answered. One file per run; the model is known from the run, not from the row.

What a model answered is never an input error (an invented room is a grounding failure); how it was written
down can be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sbench_dag.dataset.eval_spec import EvalSpec
from sbench_dag.dataset.fields import get, read_json
from sbench_dag.errors import InputError

BLIND = "blind"


@dataclass(frozen=True)
class Selection:
    """One place that an answer names. `room` may be None, as it is for every true answer on the floor."""

    category: str
    room: str | None
    surface: str


@dataclass(frozen=True)
class Answer:
    """One row. `row` is its place in the file; `extra` keeps the keys that this project does not know."""

    episode: str
    query: str
    strategy: str
    selections: tuple[Selection, ...]
    abstained: bool
    loc_set: bool | None
    row: int
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One results.json. `revision`: the data set revision that its answers are bound to, if the run says so.
    `synthetic`: made by a programmed reader, not by a model."""

    file: Path
    model: str
    revision: str | None
    synthetic: bool
    answers: tuple[Answer, ...]

    def source(self, answer: Answer) -> str:
        """The grid's cell. `blind` stands alone: it is a floor, not a model's strategy."""
        return BLIND if answer.strategy == BLIND else f"{answer.strategy}/{self.model}"


def read_run(file: Path, problems: list[InputError]) -> Run:
    """Reads a results.json and the run.json beside it, if there is one.

    A row that can't be read is appended to `problems` and left out; an unreadable file raises.
    """
    about_file = file.with_name("run.json")
    about = read_json(about_file) if about_file.exists() else {}
    model = about.get("model", file.parent.name.removeprefix("s3_"))
    answers = []
    for i, data in enumerate(_rows(file)):
        try:
            answers.append(_answer(file, i, data))
        except InputError as problem:
            problems.append(problem)
    return Run(file, model, about.get("revision"), bool(about.get("synthetic", False)), tuple(answers))


def write_run(file: Path, run: Run, texts: Mapping[tuple[str, str], str]) -> None:
    """Writes results.json and run.json. `texts`: the text of each (episode, query)."""
    rows = []
    for a in run.answers:
        selections = [{"category": s.category, "room": s.room, "surface": s.surface} for s in a.selections]
        rows.append(
            {
                "episode": a.episode,
                "query": a.query,
                "text": texts[a.episode, a.query],
                "strategy": a.strategy,
                "answer": {"selections": selections, "abstain": a.abstained},
                "scores": {} if a.loc_set is None else {"loc_set": a.loc_set},
                **a.extra,
            }
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows, indent=0) + "\n")
    about = {"model": run.model, "revision": run.revision, "synthetic": run.synthetic}
    file.with_name("run.json").write_text(json.dumps(about, indent=2) + "\n")


def check_binding(run: Run, revision: str) -> None:
    """Answers of one revision say nothing about the episodes of another."""
    if run.revision is not None and run.revision != revision:
        raise InputError(
            run.file.with_name("run.json"),
            "revision",
            run.revision,
            f"these answers are bound to another revision than the episodes, which are {revision!r}",
        )


def check_answers(
    run: Run, specs: Mapping[str, EvalSpec], unreadable: Iterable[str]
) -> tuple[list[Answer], list[InputError]]:
    """Splits a run's rows into those that refer to these episodes and queries, and the problems of the others.

    unreadable: episodes whose own files are wrong; answers about them are kept and judged invalid later.
    Of several answers of one cell to one query none is kept: nothing says which one is meant.
    """
    kept: dict[tuple[str, str, str], Answer] = {}
    twice: set[tuple[str, str, str]] = set()
    problems: list[InputError] = []
    unreadable = set(unreadable)
    for answer in run.answers:
        cell = (answer.strategy, answer.episode, answer.query)
        try:
            if answer.episode not in unreadable:
                _check_against_truth(run.file, answer, specs)
            if cell in kept:
                twice.add(cell)
                raise InputError(
                    run.file, f"[{answer.row}]", cell, f"duplicate answer; the first is row {kept[cell].row}"
                )
        except InputError as problem:
            problems.append(problem)
            continue
        kept[cell] = answer
    return [answer for cell, answer in kept.items() if cell not in twice], problems


def _rows(file: Path) -> list[Any]:
    data = read_json(file, (list, dict))
    if isinstance(data, dict):
        return get(file, data, "rows", list)
    return data


def _answer(file: Path, row: int, data: Any) -> Answer:
    where = f"[{row}]"
    if not isinstance(data, dict):
        raise InputError(file, where, data, "expected an object")
    answer = get(file, data, "answer", dict, where)
    abstained = bool(answer.get("abstain", False))
    selections = get(file, answer, "selections", list, f"{where}.answer")
    if not selections and not abstained:
        raise InputError(file, f"{where}.answer.selections", [], "empty, but the answer is not an abstention")
    known = {"episode", "query", "strategy", "answer"}
    loc_set = data.get("scores", {}).get("loc_set")
    return Answer(
        episode=get(file, data, "episode", str, where),
        query=get(file, data, "query", str, where),
        strategy=get(file, data, "strategy", str, where),
        selections=()
        if abstained
        else tuple(_selection(file, f"{where}.answer.selections[{j}]", s) for j, s in enumerate(selections)),
        abstained=abstained,
        loc_set=None if loc_set is None else bool(loc_set),
        row=row,
        extra={key: value for key, value in data.items() if key not in known},
    )


def _selection(file: Path, where: str, data: Any) -> Selection:
    if not isinstance(data, dict):
        raise InputError(file, where, data, "expected an object")
    return Selection(
        category=get(file, data, "category", str, where),
        room=get(file, data, "room", (str, type(None)), where),
        surface=get(file, data, "surface", str, where),
    )


def _check_against_truth(file: Path, answer: Answer, specs: Mapping[str, EvalSpec]) -> None:
    where = f"[{answer.row}]"
    if answer.episode not in specs:
        raise InputError(file, f"{where}.episode", answer.episode, "no episode of this data set")
    queries = {q.query: q for q in specs[answer.episode].queries}
    if answer.query not in queries:
        raise InputError(file, f"{where}.query", answer.query, f"no query of episode {answer.episode}")
    query = queries[answer.query]
    text = answer.extra.get("text")
    if text is not None and text != query.text:
        raise InputError(file, f"{where}.text", text, f"the episode's query reads {query.text!r}; another revision?")
    entries = [entry for entry in answer.extra.get("gt", ()) if isinstance(entry, dict)]
    bodies = {str(entry["body"]) for entry in entries if "body" in entry}
    if bodies and bodies != set(query.gt_bodies):
        raise InputError(
            file,
            f"{where}.gt",
            sorted(bodies),
            f"the episode's are {sorted(query.gt_bodies)}; another revision?",
        )
