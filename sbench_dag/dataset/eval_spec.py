"""eval_spec.json: the questions about an episode and their true answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sbench_dag.dataset.fields import array, get, one_of, read_json, unique
from sbench_dag.errors import InputError

FLOOR = "floor"


class Scoring(StrEnum):
    """What a plan has to achieve: the object lifted, or only the robot close to it."""

    LIFTED = "lifted"
    REACHED_ONLY = "reached_only"


class Kind(StrEnum):
    """Whether the queried object was moved during the episode."""

    TARGET = "find_target"
    DISTRACTOR = "find_distractor"


class Steps(StrEnum):
    SINGLE = "single"
    MULTI = "multi"


@dataclass(frozen=True)
class TrueLocation:
    """Where one ground-truth body is. An object on the floor has no room (`room` is None): the source names none."""

    body: str
    category: str
    room: str | None
    surface: str


@dataclass(frozen=True)
class Query:
    """One question. `category` is its noun; `twin`: another body of that category is not an answer."""

    query: str
    text: str
    kind: Kind
    steps: Steps
    scoring: Scoring
    category: str
    twin: bool
    answers: tuple[TrueLocation, ...]

    @property
    def floor(self) -> bool:
        return any(answer.surface == FLOOR for answer in self.answers)

    @property
    def gt_bodies(self) -> tuple[str, ...]:
        return tuple(answer.body for answer in self.answers)


@dataclass(frozen=True)
class EvalSpec:
    """eval_spec.json.

    room_names: room index -> name ("kitchen"); the simulator calls the room `room_<index>`.
    furniture: room name -> names of its furniture, where the source lists them; used to check the truth.
    r_support_m: horizontal distance base - object within which the object counts as reached.
    """

    episode: str
    room_names: Mapping[int, str]
    furniture: Mapping[str, tuple[str, ...]]
    reach_min_m: float
    r_support_m: float
    queries: tuple[Query, ...]

    def query(self, query: str) -> Query:
        return next(q for q in self.queries if q.query == query)


def read_eval_spec(file: Path, tracked: tuple[str, ...]) -> EvalSpec:
    """Reads and checks; `tracked` are the bodies that a true answer may name."""
    data = read_json(file)
    facts = get(file, data, "facts", dict)
    rooms = _room_names(file, get(file, facts, "room_name_map", dict, "facts"))
    furniture = {room: tuple(names) for room, names in facts.get("furniture", {}).items()}
    spec = EvalSpec(
        episode=get(file, data, "episode", str),
        room_names=rooms,
        furniture=furniture,
        reach_min_m=float(array(file, "reach_min", get(file, data, "reach_min", (int, float)), ())),
        r_support_m=float(array(file, "r_support", get(file, data, "r_support", (int, float)), ())),
        queries=tuple(_query(file, f"queries[{i}]", entry) for i, entry in enumerate(get(file, data, "queries", list))),
    )
    unique(file, "queries[].query", (q.query for q in spec.queries))
    for i, query in enumerate(spec.queries):
        for j, answer in enumerate(query.answers):
            _check_answer(file, f"queries[{i}].answers[{j}]", answer, spec, tracked)
    return spec


def write_eval_spec(file: Path, spec: EvalSpec) -> None:
    queries = [
        {
            "query": q.query,
            "text": q.text,
            "kind": q.kind,
            "steps": q.steps,
            "scoring": q.scoring,
            "category": q.category,
            "twin": q.twin,
            "answers": [
                {"body": a.body, "category": a.category, "room": a.room, "surface": a.surface} for a in q.answers
            ],
        }
        for q in spec.queries
    ]
    facts = {
        "room_name_map": {str(index): name for index, name in spec.room_names.items()},
        "furniture": {room: list(names) for room, names in spec.furniture.items()},
    }
    data = {
        "episode": spec.episode,
        "facts": facts,
        "reach_min": spec.reach_min_m,
        "r_support": spec.r_support_m,
        "queries": queries,
    }
    file.write_text(json.dumps(data, indent=1) + "\n")


def _room_names(file: Path, data: Mapping[str, Any]) -> dict[int, str]:
    for key in data:
        if not key.isdigit():
            raise InputError(file, "facts.room_name_map", key, "expected a room's index")
    names = {int(index): name for index, name in data.items()}
    unique(file, "facts.room_name_map", names.values())
    return names


def _query(file: Path, where: str, data: Any) -> Query:
    if not isinstance(data, dict):
        raise InputError(file, where, data, "expected an object")

    def text(key: str) -> str:
        return get(file, data, key, str, where)

    answers = get(file, data, "answers", list, where)
    if not answers:
        raise InputError(file, f"{where}.answers", answers, "a query needs at least one true answer")
    query = Query(
        query=text("query"),
        text=text("text"),
        kind=Kind(one_of(file, f"{where}.kind", text("kind"), Kind)),
        steps=Steps(one_of(file, f"{where}.steps", text("steps"), Steps)),
        scoring=Scoring(one_of(file, f"{where}.scoring", text("scoring"), Scoring)),
        category=text("category"),
        twin=get(file, data, "twin", bool, where),
        answers=tuple(_true_location(file, f"{where}.answers[{j}]", entry) for j, entry in enumerate(answers)),
    )
    unique(file, f"{where}.answers[].body", query.gt_bodies)
    return query


def _true_location(file: Path, where: str, data: Any) -> TrueLocation:
    if not isinstance(data, dict):
        raise InputError(file, where, data, "expected an object")
    return TrueLocation(
        body=get(file, data, "body", str, where),
        category=get(file, data, "category", str, where),
        room=get(file, data, "room", (str, type(None)), where),
        surface=get(file, data, "surface", str, where),
    )


def _check_answer(file: Path, where: str, answer: TrueLocation, spec: EvalSpec, tracked: tuple[str, ...]) -> None:
    if answer.body not in tracked:
        raise InputError(file, f"{where}.body", answer.body, "no tracked body of this episode")
    if answer.room is None:
        if answer.surface != FLOOR:
            raise InputError(file, f"{where}.room", None, "only an answer on the floor has no room")
        return
    if answer.room not in spec.room_names.values():
        rooms = ", ".join(sorted(spec.room_names.values()))
        raise InputError(file, f"{where}.room", answer.room, f"no room of this house; they are {rooms}")
    known = spec.furniture.get(answer.room)
    if known is not None and answer.surface not in (FLOOR, *known):
        raise InputError(file, f"{where}.surface", answer.surface, f"no furniture of the {answer.room}")
