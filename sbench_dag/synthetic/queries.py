"""The questions about an episode: all that could be asked, and a balanced choice among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sbench_dag.dataset.eval_spec import FLOOR, Kind, Query, Scoring, Steps, TrueLocation
from sbench_dag.scenes.houses.things import Thing
from sbench_dag.synthetic.wording import Request, Which, phrase

Place = tuple[str | None, str]  # room and surface by name; the floor has no room

# of eight queries, on average
_FLOOR, _MULTI, _MULTI_LIFTED, _REACHED_ONLY, _HIDDEN = 0.65, 1.25, 1.0, 1.45, 1.0
_TARGETS = 0.64  # of the others are about what was moved
_TWIN_FIRST = 0.5
_PER_CATEGORY = 2


@dataclass(frozen=True)
class EndOfStory:
    """What questions are made of. places: from the settled physics; a thing without one is not asked for.

    pieces: uid of the furniture that each thing rests on. scoring: by the rule; things that it leaves out have none.
    """

    things: Mapping[str, Thing]
    moved: frozenset[str]
    places: Mapping[str, Place]
    pieces: Mapping[str, str]
    scoring: Mapping[str, Scoring]

    def instances(self, category: str) -> list[str]:
        return sorted(uid for uid, thing in self.things.items() if thing.category == category)


def ask(end: EndOfStory, count: int, number: int, rng: np.random.Generator) -> tuple[Query, ...]:
    """`count` queries. number: the episode's, which decides whose turn it is among the categories."""
    candidates = list(_candidates(end))
    chosen = _Choice(candidates, end, number, rng).make(count)
    order = {query.text: i for i, query in enumerate(candidates)}
    chosen.sort(key=lambda query: order[query.text])
    return tuple(
        Query(f"q{i:02d}", q.text, q.kind, q.steps, q.scoring, q.category, q.twin, q.answers)
        for i, q in enumerate(chosen)
    )


def _candidates(end: EndOfStory) -> Iterator[Query]:
    """Every question with one clear answer, that a robot which knows the answer can act on."""
    for category in sorted({thing.category for thing in end.things.values()}):
        everyone = end.instances(category)
        moved = [uid for uid in everyone if uid in end.moved]
        still = [uid for uid in everyone if uid not in end.moved]
        meant: list[tuple[Request, list[str]]] = []
        if len(moved) == 1:
            meant.append((Request(category, Which.MOVED, False), moved))
        if len(still) == 1:
            which = Which.UNMOVED if moved else Which.ANY
            meant.append((Request(category, which, False), still))
        if len(moved) > 1:
            meant.append((Request(category, Which.MOVED, True), moved))
        if len(everyone) > 1:
            meant.append((Request(category, Which.ANY, True), everyone))
        for request, bodies in meant:
            query = _query(end, request, bodies, everyone)
            if query is not None:
                yield query


def _query(end: EndOfStory, request: Request, bodies: list[str], everyone: list[str]) -> Query | None:
    if any(uid not in end.places or uid not in end.scoring for uid in bodies) or not _approached(end, bodies, everyone):
        return None
    lifted = all(end.scoring[uid] is Scoring.LIFTED for uid in bodies)
    return Query(
        query="",
        text=phrase(request, end.things[bodies[0]].plural),
        kind=Kind.TARGET if set(bodies) & end.moved else Kind.DISTRACTOR,
        steps=Steps.MULTI if request.all else Steps.SINGLE,
        scoring=Scoring.LIFTED if lifted else Scoring.REACHED_ONLY,
        category=request.category,
        twin=len(everyone) > len(bodies),
        answers=tuple(TrueLocation(uid, request.category, *end.places[uid]) for uid in bodies),
    )


def _approached(end: EndOfStory, bodies: list[str], everyone: list[str]) -> bool:
    """Whether a robot that goes to the true places comes to these bodies, and not to a twin beside them.

    At a place it takes the instances by uid; of several pieces of one name in a room, those on the first.
    """
    wanted: dict[Place, int] = {}
    for uid in bodies:
        wanted[end.places[uid]] = wanted.get(end.places[uid], 0) + 1
    found: list[str] = []
    for place, number in wanted.items():
        there = [uid for uid in everyone if end.places.get(uid) == place]
        if place[1] != FLOOR:
            first = min(end.pieces[uid] for uid in there)
            there = [uid for uid in there if end.pieces[uid] == first]
        found += there[:number]
    return sorted(found) == bodies


@dataclass
class _Choice:
    """Takes what is rare first, and then what is missing."""

    candidates: list[Query]
    end: EndOfStory
    number: int
    rng: np.random.Generator

    def make(self, count: int) -> list[Query]:
        self.left = sorted(self.candidates, key=self._priority)
        self.chosen: list[Query] = []
        scale = count / 8
        self._take(self._number(_FLOOR * scale), lambda q: q.floor and not _multi(q))
        multi, lifted_multi = self._number(_MULTI * scale), self._number(_MULTI_LIFTED * scale)
        self._take(min(multi, lifted_multi), lambda q: _multi(q) and _lifted(q))
        self._take(multi - sum(map(_multi, self.chosen)), _multi)
        reached_only = self._number(_REACHED_ONLY * scale) - sum(not _lifted(q) for q in self.chosen)
        hidden = min(reached_only, self._number(_HIDDEN * scale))
        before = len(self.chosen)
        self._take(hidden, lambda q: not _lifted(q) and not _multi(q) and self._graspable(q))
        self._take(reached_only - (len(self.chosen) - before), lambda q: not _lifted(q) and not _multi(q))
        plain = count - len(self.chosen)
        targets = self._number(_TARGETS * plain)
        self._take(targets, lambda q: _plain(q) and q.kind is Kind.TARGET)
        self._take(plain - targets, lambda q: _plain(q) and q.kind is Kind.DISTRACTOR)
        # an episode that lacks one kind gets more of another
        for fits in (_plain, lambda q: not q.floor and _lifted(q), lambda q: not q.floor, lambda q: True):
            self._take(count - len(self.chosen), fits)
        return self.chosen

    def _take(self, number: int, fits: Callable[[Query], bool]) -> None:
        for query in list(self.left):
            if number <= 0:
                return
            same = [q for q in self.chosen if q.category == query.category]
            repeats = any(set(q.gt_bodies) & set(query.gt_bodies) for q in same)
            if fits(query) and len(same) < _PER_CATEGORY and not repeats:
                self.chosen.append(query)
                self.left.remove(query)
                number -= 1

    def _number(self, mean: float) -> int:
        return int(mean) + int(self.rng.random() < mean % 1.0)

    def _graspable(self, query: Query) -> bool:
        return self.end.things[query.gt_bodies[0]].graspable

    def _priority(self, query: Query) -> tuple[int, float]:
        """A third of the categories comes first, another third in the next episode; and twins rather early."""
        categories = sorted({thing.category for thing in self.end.things.values()})
        turn = (categories.index(query.category) + self.number) % 3
        return turn, float(self.rng.random()) - _TWIN_FIRST * query.twin


def _multi(query: Query) -> bool:
    return query.steps is Steps.MULTI


def _lifted(query: Query) -> bool:
    return query.scoring is Scoring.LIFTED


def _plain(query: Query) -> bool:
    return _lifted(query) and not _multi(query) and not query.floor
