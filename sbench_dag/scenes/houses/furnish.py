"""Which furniture a room gets, and where it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sbench_dag.scenes.houses import decor, seats, storage, tables
from sbench_dag.scenes.houses.floorplan import FloorPlan, PlannedRoom
from sbench_dag.scenes.houses.furniture import Kind, Piece
from sbench_dag.scenes.houses.geometry import Rect

KindMaker = Callable[[np.random.Generator], Kind]

DOOR_DEPTH_M = 0.9
_GRID_M = 0.05
_GAP_M = 0.04  # between neighbours along a wall


class DoesNotFitError(Exception):
    """A piece that the room must have found no place."""


@dataclass(frozen=True)
class Wish:
    """A piece for a room. share: how often a room of that name gets it; 1 means always."""

    make: KindMaker
    share: float = 1.0


def _wishes() -> Mapping[str, tuple[Wish, ...]]:
    return {
        "kitchen": (
            Wish(tables.countertop),
            Wish(tables.kitchen_island),
            Wish(decor.fridge),
            Wish(storage.shelf, 0.7),
            Wish(seats.stool, 0.8),
        ),
        "living room": (
            Wish(seats.sofa),
            Wish(storage.tv_stand),
            Wish(tables.coffee_table),
            Wish(storage.bookshelf, 0.8),
            Wish(seats.armchair, 0.8),
            Wish(tables.side_table, 0.8),
            Wish(decor.floor_lamp, 0.8),
            Wish(decor.plant, 0.8),
        ),
        "bedroom": (
            Wish(seats.bed),
            Wish(tables.nightstand),
            Wish(tables.nightstand, 0.6),
            Wish(tables.dresser, 0.9),
            Wish(seats.bench, 0.3),
            Wish(decor.plant, 0.4),
        ),
        "guest room": (
            Wish(seats.bed),
            Wish(tables.nightstand),
            Wish(tables.desk, 0.7),
            Wish(storage.shelf, 0.5),
            Wish(decor.floor_lamp, 0.5),
        ),
        "bathroom": (
            Wish(tables.vanity),
            Wish(decor.toilet),
            Wish(decor.bathtub, 0.7),
            Wish(tables.washing_machine, 0.8),
            Wish(storage.shelf, 0.6),
            Wish(seats.stool, 0.6),
        ),
        "office": (
            Wish(tables.desk),
            Wish(storage.bookshelf),
            Wish(storage.sideboard, 0.8),
            Wish(seats.armchair, 0.7),
            Wish(tables.side_table, 0.4),
            Wish(decor.plant, 0.7),
        ),
        "dining room": (
            Wish(tables.dining_table),
            Wish(storage.sideboard),
            Wish(seats.bench, 0.5),
            Wish(tables.console_table, 0.5),
            Wish(decor.plant, 0.7),
        ),
        "hallway": (
            Wish(tables.console_table),
            Wish(seats.bench, 0.8),
            Wish(tables.console_table, 0.4),
            Wish(decor.plant, 0.6),
        ),
    }


def furnish(rng: np.random.Generator, plan: FloorPlan) -> tuple[Piece, ...]:
    """Furniture for every room, in the rooms' order.

    Raises:
        DoesNotFitError: draw another floor plan.
    """
    wishes = _wishes()
    pieces: list[Piece] = []
    for room in plan.rooms:
        doors = [door.zone(DOOR_DEPTH_M) for door in plan.doors if room.room.index in door.rooms]
        pieces += _Furnisher(rng, room, doors).run(wishes[room.name])
    return tuple(pieces)


@dataclass
class _Furnisher:
    """Puts one piece after the other where it fits, without blocking doors or what stands already."""

    rng: np.random.Generator
    room: PlannedRoom
    doors: Sequence[Rect]
    pieces: list[Piece] = field(default_factory=list)

    def run(self, wishes: Iterable[Wish]) -> list[Piece]:
        for wish in wishes:
            wanted = self.rng.random() < wish.share
            kind = wish.make(self.rng)
            if wanted and not self._place(kind) and wish.share == 1.0:
                raise DoesNotFitError(f"{kind.slug} in the {self.room.name}")
        return self.pieces

    def _place(self, kind: Kind) -> bool:
        spots = list(self._in_the_open(kind) if kind.freestanding else self._at_walls(kind))
        for i in self.rng.permutation(len(spots)):
            x, y, turns = spots[i]
            piece = Piece(self._uid(kind), kind, self.room.room.index, x, y, turns)
            if self._fits(piece):
                self.pieces.append(piece)
                if kind.above is not None:
                    hung = Piece(self._uid(kind.above), kind.above, self.room.room.index, x, y, turns)
                    self.pieces.append(hung)
                return True
        return False

    def _uid(self, kind: Kind) -> str:
        number = sum(piece.kind.slug == kind.slug for piece in self.pieces)
        return f"{kind.slug}_{number}_{self.room.room.index}"

    def _at_walls(self, kind: Kind) -> Iterable[tuple[float, float, int]]:
        """Origins with the back at a wall. Quarter turns: which way the front looks."""
        inner, half_w, half_d = self.room.inner, kind.width / 2, kind.depth / 2
        for x in _steps(inner.x_min + half_w, inner.x_max - half_w):
            yield x, round(inner.y_max - half_d, 4), 0
            yield x, round(inner.y_min + half_d, 4), 2
        for y in _steps(inner.y_min + half_w, inner.y_max - half_w):
            yield round(inner.x_min + half_d, 4), y, 1
            yield round(inner.x_max - half_d, 4), y, 3

    def _in_the_open(self, kind: Kind) -> Iterable[tuple[float, float, int]]:
        inner = self.room.inner
        for turns in range(4):
            half_x, half_y = kind.width / 2, kind.depth / 2
            if turns % 2:
                half_x, half_y = half_y, half_x
            reach_x, reach_y = half_x + kind.margin, half_y + kind.margin
            for x in _steps(inner.x_min + reach_x, inner.x_max - reach_x, 2 * _GRID_M):
                for y in _steps(inner.y_min + reach_y, inner.y_max - reach_y, 2 * _GRID_M):
                    yield x, y, turns

    def _fits(self, piece: Piece) -> bool:
        body = piece.footprint
        if not self.room.inner.holds(piece.access) or any(body.overlaps(door) for door in self.doors):
            return False
        free = body.grown(piece.kind.margin or _GAP_M)
        for other in self.pieces:
            taken = other.footprint
            if free.overlaps(taken) or piece.access.overlaps(taken) or other.access.overlaps(body):
                return False
            if other.kind.margin and taken.grown(other.kind.margin).overlaps(body):
                return False
        return True


def _steps(start: float, end: float, step: float = _GRID_M) -> list[float]:
    """Points from start to end, both ends included."""
    if end < start:
        return []
    count = int((end - start) / step + 1e-9)
    return [round(start + i * step, 4) for i in range(count + 1)] + [round(end, 4)]
