"""Where things lie: an arrangement of a house's things, and whether there is room for one more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sbench_dag.scenes.houses.things import Thing

HAND_GAP_M = 0.085  # between neighbours of which each can be picked
TALL_GAP_M = 0.125  # beside one that is taller than the fingers are long
TALL_M = 0.05
CROWDED_M = 0.03  # between things of which one hides the other
_ABOVE_M = 0.45  # things further apart in height are on different levels


@dataclass(frozen=True)
class Resting:
    """A thing at rest: its origin (metres), its yaw (radians), and what it rests on.

    on: uid of a surface, or `room_<index>` for that room's floor. inside: uid of the thing that it lies in.
    crowded: a neighbour is so near that no hand fits between them.
    """

    x: float
    y: float
    z: float
    yaw: float
    room: int
    on: str
    inside: str | None = None
    crowded: bool = False

    @property
    def on_floor(self) -> bool:
        return self.on == floor_of(self.room)

    @property
    def furniture(self) -> str | None:
        """The piece of furniture that it rests on."""
        return None if self.on_floor else self.on.split("/")[0]


def floor_of(room: int) -> str:
    return f"room_{room}"


@dataclass(frozen=True)
class Arrangement:
    """All things of a house by uid, and where each of them lies."""

    things: Mapping[str, Thing]
    places: Mapping[str, Resting] = field(default_factory=dict)

    def moved(self, uid: str, to: Resting) -> Arrangement:
        """With one of them somewhere else; what lies in it comes along."""
        places = {**self.places, uid: to}
        start = self.places.get(uid)
        for other, place in self.places.items():
            if start is not None and place.inside == uid:
                shift = {"x": place.x + to.x - start.x, "y": place.y + to.y - start.y, "z": place.z + to.z - start.z}
                places[other] = replace(place, room=to.room, on=to.on, **shift)
        return replace(self, places=places)

    def without(self, uid: str) -> Arrangement:
        return replace(self, places={other: place for other, place in self.places.items() if other != uid})

    def has_room(self, thing: Thing, x: float, y: float, z: float, near_m: float | None = None) -> bool:
        """Whether a thing with its origin there leaves space for a hand between it and all others.

        near_m: the smallest gap that will do instead.
        """
        return all(
            gap(thing, x, y, self.things[uid], place)
            >= (hand_gap(thing, self.things[uid]) if near_m is None else near_m)
            for uid, place in self.places.items()
            if abs(place.z - z) < _ABOVE_M
        )

    def contents(self, uid: str) -> list[str]:
        return sorted(other for other, place in self.places.items() if place.inside == uid)


def gap(thing: Thing, x: float, y: float, other: Thing, place: Resting) -> float:
    """Free distance between the circles around two things; negative where they overlap."""
    return math.hypot(x - place.x, y - place.y) - thing.radius - other.radius


def hand_gap(thing: Thing, other: Thing) -> float:
    """The gap that a hand needs to pick either of two neighbours."""
    return TALL_GAP_M if max(thing.height, other.height) > TALL_M else HAND_GAP_M
