"""What a piece of furniture is made of, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sbench_dag.scenes.houses.geometry import Rect, turned

OPEN_ABOVE_M = 9.0  # the clearance of a surface with nothing above it
ACCESS_M = 0.95  # free floor before a piece's front
SIDES = {"front": (0, -1), "right": (1, 0), "back": (0, 1), "left": (-1, 0)}


class Shape(StrEnum):
    BOX = "box"
    CYLINDER = "cylinder"
    ELLIPSOID = "ellipsoid"


@dataclass(frozen=True)
class Part:
    """A solid in the piece's frame, whose origin lies on the floor in the middle of the footprint.

    The front looks along -y. half: half sizes; of a cylinder (radius, radius, half height).
    solid: False for what is only seen.
    """

    centre: tuple[float, float, float]
    half: tuple[float, float, float]
    material: str
    shape: Shape = Shape.BOX
    solid: bool = True


@dataclass(frozen=True)
class Level:
    """A rectangle that carries things: its middle and half size in the piece's frame, and its height.

    clearance: metres to whatever is above it. open: the sides from which a hand can come.
    """

    x: float
    y: float
    half_x: float
    half_y: float
    height: float
    clearance: float = OPEN_ABOVE_M
    open: tuple[str, ...] = ("front",)


@dataclass(frozen=True)
class Kind:
    """A piece of furniture before it is put anywhere.

    name: what an answer calls it; None if no answer would name it, as a fridge that carries nothing.
    front: free floor that it needs before its front. margin: and, if it doesn't stand at a wall, on its other sides.
    above: what hangs on the wall over it.
    """

    slug: str
    name: str | None
    width: float
    depth: float
    parts: tuple[Part, ...]
    levels: tuple[Level, ...] = ()
    freestanding: bool = False
    margin: float = 0.0
    front: float = ACCESS_M
    above: Kind | None = None


@dataclass(frozen=True)
class Surface:
    """A level of a piece that stands somewhere. open: unit vectors towards the sides a hand can come from."""

    uid: str
    furniture: str
    room: int
    rect: Rect
    height: float
    clearance: float
    open: tuple[tuple[int, int], ...]

    @property
    def is_open_above(self) -> bool:
        return self.clearance >= OPEN_ABOVE_M


@dataclass(frozen=True)
class Piece:
    """A piece of furniture in a room: its origin (x, y), turned counter-clockwise by quarter turns."""

    uid: str
    kind: Kind
    room: int
    x: float
    y: float
    turns: int

    @property
    def footprint(self) -> Rect:
        return self.rect(0.0, 0.0, self.kind.width / 2, self.kind.depth / 2)

    @property
    def access(self) -> Rect:
        """The free floor before the front."""
        front = self.kind.front
        return self.rect(0.0, -self.kind.depth / 2 - front / 2, self.kind.width / 2, front / 2)

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return tuple(
            Surface(
                uid=f"{self.uid}/surface{k}",
                furniture=self.uid,
                room=self.room,
                rect=self.rect(level.x, level.y, level.half_x, level.half_y),
                height=level.height,
                clearance=level.clearance,
                open=tuple(self._direction(side) for side in level.open),
            )
            for k, level in enumerate(self.kind.levels)
        )

    def rect(self, x: float, y: float, half_x: float, half_y: float) -> Rect:
        """A rectangle of the piece's frame in the world."""
        dx, dy = turned(x, y, self.turns)
        if self.turns % 2:
            half_x, half_y = half_y, half_x
        return Rect.around(self.x + dx, self.y + dy, half_x, half_y)

    def _direction(self, side: str) -> tuple[int, int]:
        x, y = turned(*SIDES[side], self.turns)
        return round(x), round(y)
