"""A house as pure data: its rooms, furniture, surfaces, and the things in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from sbench_dag.scenes.houses.access import all_accessible
from sbench_dag.scenes.houses.floorplan import Door, PlannedRoom, plan_floor
from sbench_dag.scenes.houses.furnish import DoesNotFitError, furnish
from sbench_dag.scenes.houses.furniture import Piece, Surface
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.things import Thing, all_things

OBJECTS = 25
KINDS_MIN = 10
_ATTEMPTS = 500
_TWINS = (
    "mug",
    "potato",
    "can",
    "apple",
    "bowl",
    "bottle",
    "plate",
    "remote control",
    "box",
    "key chain",
    "butter knife",
)
_WIDE_MIN, _WIDE_MAX = 3, 5


@dataclass(frozen=True)
class Interior:
    """The part of a house that is nailed down."""

    index: int
    rooms: tuple[PlannedRoom, ...]
    doors: tuple[Door, ...]
    pieces: tuple[Piece, ...]

    @cached_property
    def furniture(self) -> tuple[Piece, ...]:
        """The pieces that an answer can name."""
        return tuple(piece for piece in self.pieces if piece.kind.name is not None)

    @cached_property
    def surfaces(self) -> tuple[Surface, ...]:
        return tuple(surface for piece in self.furniture for surface in piece.surfaces)

    @cached_property
    def room_names(self) -> dict[int, str]:
        return {room.room.index: room.name for room in self.rooms}

    @cached_property
    def piece_names(self) -> dict[str, str]:
        return {piece.uid: piece.kind.name for piece in self.furniture if piece.kind.name is not None}

    def room(self, index: int) -> PlannedRoom:
        return next(room for room in self.rooms if room.room.index == index)


def plan_interior(index: int) -> Interior:
    """The house of a number: the first floor plan into which all that it needs fits."""
    for attempt in range(_ATTEMPTS):
        rng = stable_rng("house", index, attempt)
        floor = plan_floor(rng)
        try:
            pieces = furnish(rng, floor)
        except DoesNotFitError:
            continue
        house = Interior(index, floor.rooms, floor.doors, pieces)
        kinds = {piece.kind.slug for piece in house.furniture}
        if len(kinds) >= KINDS_MIN and all_accessible(house.rooms, house.doors, house.pieces):
            return house
    raise RuntimeError(f"house {index}: no floor plan found in {_ATTEMPTS} attempts")


def choose_things(index: int) -> list[Thing]:
    """25 things of a house: all that can be grasped, some that can't, and twins of some. Sorted by category."""
    rng = stable_rng("things", index)
    things = {thing.category: thing for thing in all_things()}
    chosen = [thing for thing in things.values() if thing.graspable]
    wide = [thing for thing in things.values() if not thing.graspable]
    count = int(rng.integers(_WIDE_MIN, _WIDE_MAX + 1))
    chosen += [wide[i] for i in rng.permutation(len(wide))[:count]]
    if not any(thing.room_inside for thing in chosen):
        chosen[-1] = things["cooking pot"]
    numbers = Counter({thing.category: 1 for thing in chosen})
    twins = [str(name) for name in rng.permutation(_TWINS)]
    most = [int(n) for n in rng.choice([2, 3, 4], size=len(twins), p=[0.55, 0.3, 0.15])]
    for name, wanted in zip(twins, most, strict=True):
        numbers[name] += min(wanted - 1, OBJECTS - numbers.total())
    return sorted((things[name] for name in numbers.elements()), key=lambda thing: thing.category)
