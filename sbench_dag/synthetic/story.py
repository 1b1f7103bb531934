"""What happens in an episode, as pure data: who is moved from where to where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sbench_dag.scenes.houses.home import HousePlan, weighted_order
from sbench_dag.scenes.houses.resting import Arrangement, Resting
from sbench_dag.scenes.houses.spots import Spots
from sbench_dag.scenes.houses.things import Thing

_MOVES = (6, 8)
_ELSEWHERE = 5.0  # weight of another room's furniture as a destination
_WIDE = 0.12  # of the moves are of a thing that can't be grasped
_TWINS_FIRST = 0.3  # by how much things with twins come sooner, on a scale of 1
_AGAIN = 0.12  # of the moves are of a thing that was moved before


class Way(StrEnum):
    """Where a thing is moved to."""

    EDGE = "edge"
    SHELF = "shelf"
    FLOOR = "floor"
    INSIDE = "inside"
    BEHIND = "behind"
    SWAP = "swap"


@dataclass(frozen=True)
class Move:
    """One thing carried from one place to another."""

    uid: str
    start: Resting
    end: Resting


@dataclass(frozen=True)
class Event:
    """Moves that happen at once (two when twins are swapped), and how everything lies afterwards."""

    moves: tuple[Move, ...]
    after: Arrangement


@dataclass(frozen=True)
class Story:
    plan: HousePlan
    events: tuple[Event, ...]

    @property
    def end(self) -> Arrangement:
        return self.events[-1].after

    @property
    def moved(self) -> frozenset[str]:
        return frozenset(move.uid for event in self.events for move in event.moves)


def tell_story(plan: HousePlan, rng: np.random.Generator) -> Story:
    """6 to 8 moves, and one or two more where twins are swapped."""
    teller = _Teller(plan, rng, plan.home)
    ways = [Way.SHELF, Way.EDGE, Way.EDGE]
    for way, share in ((Way.FLOOR, 0.9), (Way.INSIDE, 0.4), (Way.BEHIND, 0.3), (Way.SWAP, 0.35)):
        if rng.random() < share:
            ways.append(way)
    ways += [Way.EDGE] * (int(rng.integers(_MOVES[0], _MOVES[1] + 1)) - len(ways))
    for i in rng.permutation(len(ways)):
        teller.tell(ways[i])
    return Story(plan, tuple(teller.events))


class _Teller:
    def __init__(self, plan: HousePlan, rng: np.random.Generator, now: Arrangement):
        self.plan, self.rng, self.now = plan, rng, now
        self.spots = Spots(plan.interior, rng)
        self.events: list[Event] = []

    def tell(self, way: Way) -> None:
        """Adds an event; where there is no room for one of that kind, an ordinary one."""
        if way is Way.SWAP and self._swap():
            return
        find = {Way.SHELF: self._shelf, Way.FLOOR: self._floor, Way.INSIDE: self._inside, Way.BEHIND: self._behind}
        if not self._move(find.get(way, self._edge), way):
            self._move(self._edge, Way.EDGE)

    def _move(self, find: Callable[[Thing, Arrangement, int], Resting | None], way: Way) -> bool:
        for uid in self._candidates(way):
            start = self.now.places[uid]
            place = find(self.now.things[uid], self.now.without(uid), start.room)
            if place is not None and place.on != start.on:
                self._happen(Move(uid, start, place))
                return True
        return False

    def _happen(self, *moves: Move) -> None:
        for move in moves:
            self.now = self.now.moved(move.uid, move.end)
        self.events.append(Event(moves, self.now))

    def _candidates(self, way: Way) -> list[str]:
        """Uids in a random order. A category is moved once, so that "the mug I moved" means one mug."""
        moved = {move.uid for event in self.events for move in event.moves}
        categories = {self.now.things[uid].category for uid in moved}
        wide = way is Way.EDGE and self.rng.random() < _WIDE
        again = way is Way.EDGE and self.rng.random() < _AGAIN
        found = []
        for uid in self.now.things:
            thing = self.now.things[uid]
            fresh = thing.category not in categories
            if self.now.contents(uid) or not (fresh or (again and uid in moved and not self._swapped(uid))):
                continue
            if thing.graspable != wide:
                found.append(uid)
        alone = np.array([sum(t == self.now.things[uid] for t in self.now.things.values()) == 1 for uid in found])
        keys = self.rng.random(len(found)) + (_TWINS_FIRST * alone if len(found) else 0.0)
        return [found[i] for i in np.argsort(keys, kind="stable")]

    def _swapped(self, uid: str) -> bool:
        return any(len(event.moves) > 1 and uid in [m.uid for m in event.moves] for event in self.events)

    def _edge(self, thing: Thing, around: Arrangement, room: int) -> Resting | None:
        return self._on_furniture(lambda surface: self.spots.at_edge(thing, surface, around), room)

    def _shelf(self, thing: Thing, around: Arrangement, room: int) -> Resting | None:
        return self._on_furniture(lambda surface: self.spots.within(thing, surface, around), room)

    def _on_furniture(self, find: Callable, room: int) -> Resting | None:
        surfaces = self.plan.interior.surfaces
        weights = np.array([1.0 if surface.room == room else _ELSEWHERE for surface in surfaces])
        found = (find(surface) for surface in weighted_order(self.rng, surfaces, weights))
        return next((place for place in found if place is not None), None)

    def _floor(self, thing: Thing, around: Arrangement, room: int) -> Resting | None:
        rooms = [planned.room.index for planned in self.plan.interior.rooms]
        found = (self.spots.on_floor(thing, rooms[i], around) for i in self.rng.permutation(len(rooms)))
        return next((place for place in found if place is not None), None)

    def _inside(self, thing: Thing, around: Arrangement, room: int) -> Resting | None:
        holders = [uid for uid in around.places if around.things[uid].room_inside]
        found = (self.spots.inside(thing, uid, around) for uid in holders)
        return next((place for place in found if place is not None), None)

    def _behind(self, thing: Thing, around: Arrangement, room: int) -> Resting | None:
        uids = sorted(around.places)
        found = (self.spots.behind(thing, uids[i], around) for i in self.rng.permutation(len(uids)))
        return next((place for place in found if place is not None), None)

    def _swap(self) -> bool:
        """Two twins change places; nothing looks different afterwards."""
        for first in self._candidates(Way.SWAP):
            for second in self._candidates(Way.SWAP):
                a, b = self.now.places[first], self.now.places[second]
                twins = first < second and self.now.things[first].category == self.now.things[second].category
                free = not (a.inside or b.inside or a.crowded or b.crowded)
                if twins and free and a.furniture != b.furniture:
                    self._happen(Move(first, a, b), Move(second, b, a))
                    return True
        return False
