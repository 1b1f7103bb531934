"""Rooms that tile a footprint, and the doorways between them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.scenes.houses.geometry import Rect
from sbench_dag.scenes.scene import Room

DOOR_WIDTH_M = 1.0
WALL_M = 0.05  # of each room's own walls: two rooms have 0.10 m between them
_CORNER_M = 0.30  # between a doorway and the nearest corner
_SHARED_MIN_M = DOOR_WIDTH_M + 2 * _CORNER_M
_GRID_M = 0.05
_HALL_DEPTH_M = 1.95
_EXTRA_DOOR = 0.3

# rows of rooms from south to north, "hall" a corridor over the whole width
_LAYOUTS: dict[int, tuple[tuple[int | str, ...], ...]] = {
    3: ((1, 2), (2, 1), (3,)),
    4: ((2, 2), ("hall", 3)),
    5: ((2, 3), (3, 2), (2, "hall", 2)),
    6: ((3, 3), (3, "hall", 2), (2, "hall", 3)),
}
_OTHER_ROOMS = ("bedroom", "bathroom", "office", "dining room", "guest room")


@dataclass(frozen=True)
class PlannedRoom:
    """A room and what it is called ("living room")."""

    room: Room
    name: str

    @property
    def inner(self) -> Rect:
        """The floor between the walls."""
        room = self.room
        return Rect(room.x_min, room.y_min, room.x_max, room.y_max).grown(-WALL_M)


@dataclass(frozen=True)
class Door:
    """An opening between two rooms, by index, its middle at (x, y). vertical: the wall runs along y."""

    rooms: tuple[int, int]
    x: float
    y: float
    vertical: bool

    def zone(self, depth: float) -> Rect:
        """The floor within `depth` of the doorway, on both sides of it."""
        along = DOOR_WIDTH_M / 2 + 0.05
        return Rect.around(self.x, self.y, *((depth, along) if self.vertical else (along, depth)))


@dataclass(frozen=True)
class FloorPlan:
    rooms: tuple[PlannedRoom, ...]
    doors: tuple[Door, ...]


def plan_floor(rng: np.random.Generator) -> FloorPlan:
    """3 to 6 rooms of different names, all of them connected."""
    count = int(rng.choice([3, 4, 5, 6], p=[0.2, 0.3, 0.3, 0.2]))
    layout = _LAYOUTS[count][int(rng.integers(len(_LAYOUTS[count])))]
    slots = _slots(rng, layout)
    names = _names(rng, slots)
    rooms = tuple(
        PlannedRoom(Room(i, r.x_min, r.y_min, r.x_max, r.y_max), name)
        for i, ((r, _), name) in enumerate(zip(slots, names, strict=True))
    )
    return FloorPlan(rooms, tuple(_doors(rng, [room.room for room in rooms])))


def _slots(rng: np.random.Generator, layout: Sequence[int | str]) -> list[tuple[Rect, bool]]:
    """Rectangles of the rooms, and whether each is the hall."""
    widest = max(row for row in layout if isinstance(row, int))
    width = {1: 4.6, 2: 8.2, 3: 11.2}[widest] + _GRID_M * int(rng.integers(0, 21))
    slots = []
    y = 0.0
    for row in layout:
        depth = _HALL_DEPTH_M if row == "hall" else 3.8 + _GRID_M * int(rng.integers(0, 13))
        cuts = _cuts(rng, width, 1 if row == "hall" else int(row))
        for x_min, x_max in itertools.pairwise(cuts):
            slots.append((Rect(x_min, round(y, 3), x_max, round(y + depth, 3)), row == "hall"))
        y += depth
    return slots


def _cuts(rng: np.random.Generator, width: float, count: int) -> list[float]:
    """Where a row's walls are, its rooms about equally wide."""
    cuts = [0.0]
    for i in range(1, count):
        cuts.append(round(width * i / count + _GRID_M * int(rng.integers(-7, 8)), 3))
    return [*cuts, round(width, 3)]


def _names(rng: np.random.Generator, slots: Sequence[tuple[Rect, bool]]) -> list[str]:
    """The living room is the largest, the bathroom the smallest; every house has a kitchen."""
    plain = [i for i, (_, hall) in enumerate(slots) if not hall]
    by_area = sorted(plain, key=lambda i: (-4 * slots[i][0].half[0] * slots[i][0].half[1], i))
    others = [str(name) for name in rng.permutation(_OTHER_ROOMS)][: len(plain) - 2]
    names = ["hallway"] * len(slots)
    names[by_area[0]] = "living room"
    left = by_area[1:]
    if "bathroom" in others:
        names[left.pop()] = "bathroom"
        others.remove("bathroom")
    for i, name in zip(left, rng.permutation([*others, "kitchen"]), strict=True):
        names[i] = str(name)
    return names


def _doors(rng: np.random.Generator, rooms: Sequence[Room]) -> list[Door]:
    """Doorways along a random tree over the rooms, and now and then one more."""
    walls = [
        (a, b, shared)
        for i, a in enumerate(rooms)
        for b in rooms[i + 1 :]
        if (shared := _shared_wall(a, b)) is not None
    ]
    order = rng.permutation(len(walls))
    group = {room.index: room.index for room in rooms}
    doors = []
    for i in order:
        a, b, shared = walls[i]
        extra = rng.random() < _EXTRA_DOOR
        if group[a.index] == group[b.index] and not extra:
            continue
        merged, gone = group[a.index], group[b.index]
        group = {room: merged if of == gone else of for room, of in group.items()}
        doors.append(_door(rng, a, b, shared))
    return doors


def _shared_wall(a: Room, b: Room) -> tuple[bool, float, float, float] | None:
    """(runs along y, where, from, to) of the wall between two rooms, if it has space for a doorway."""
    for vertical in (True, False):
        low, high = ("x_min", "x_max") if vertical else ("y_min", "y_max")
        along = ("y_min", "y_max") if vertical else ("x_min", "x_max")
        for first, second in ((a, b), (b, a)):
            if abs(getattr(first, high) - getattr(second, low)) < 1e-6:
                start = max(getattr(a, along[0]), getattr(b, along[0]))
                end = min(getattr(a, along[1]), getattr(b, along[1]))
                if end - start >= _SHARED_MIN_M:
                    return vertical, getattr(first, high), start, end
    return None


def _door(rng: np.random.Generator, a: Room, b: Room, wall: tuple[bool, float, float, float]) -> Door:
    vertical, at, start, end = wall
    margin = _CORNER_M + DOOR_WIDTH_M / 2
    # doors are near a corner rather than amid a wall that furniture could use
    lowest, highest = start + margin, end - margin
    middle = lowest if rng.random() < 0.5 else highest
    middle = round(float(np.clip(middle + rng.uniform(-0.3, 0.3), lowest, highest)), 2)
    x, y = (at, middle) if vertical else (middle, at)
    return Door((a.index, b.index), x, y, vertical)
