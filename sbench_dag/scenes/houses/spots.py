"""Finding a place for a thing: at a surface's edge, deep in a shelf, in another thing, behind one, on the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sbench_dag.scenes.houses.access import is_free
from sbench_dag.scenes.houses.furniture import Surface
from sbench_dag.scenes.houses.geometry import Rect
from sbench_dag.scenes.houses.plan import Interior
from sbench_dag.scenes.houses.resting import CROWDED_M, Arrangement, Resting, floor_of
from sbench_dag.scenes.houses.things import Thing

PICK_HEIGHT_M = (0.35, 1.10)
REACH_M, FAR_REACH_M = 0.55, 0.63
_EDGE_M = 0.015  # between a thing and the edge that it must not stand over
_INSET_M = (0.08, 0.26)  # of a thing's middle from the edge that it is picked across
_DEEP = 0.5  # share of a level's depth: under a board, and still near enough to its edge to be reached
_SPOTS_MIN = 3  # so many places to stand that one is left when something gets in the way
_TRIES = 24
_MM = 3


@dataclass(frozen=True)
class Spots:
    """Draws places in one house."""

    house: Interior
    rng: np.random.Generator

    def at_edge(self, thing: Thing, surface: Surface, around: Arrangement) -> Resting | None:
        """Where a hand from above gets at it, and a robot stands before it."""
        if not surface.is_open_above or not PICK_HEIGHT_M[0] <= surface.height <= PICK_HEIGHT_M[1]:
            return None
        for x, y, side in self._along_edges(thing, surface):
            z = surface.height + thing.height / 2
            if around.has_room(thing, x, y, z) and self._can_stand(x, y, surface.room, (side,), REACH_M):
                return self._resting(x, y, z, surface.room, surface.uid)
        return None

    def within(self, thing: Thing, surface: Surface, around: Arrangement) -> Resting | None:
        """In a shelf's level, or deep under a board."""
        rect = surface.rect
        reach = thing.radius + _EDGE_M
        depth = 2 * surface.rect.half[0 if surface.open[0][0] else 1]
        inset = min(max(reach, _DEEP * depth), depth - reach)
        if surface.is_open_above or thing.height + 0.03 > surface.clearance:
            return None
        for _ in range(_TRIES):
            x, y = self._across(rect, surface.open[0], reach, inset)
            if not rect.grown(-reach + 1e-6).holds(Rect(x, y, x, y)):
                continue
            z = surface.height + thing.height / 2
            apart = around.has_room(thing, x, y, z, CROWDED_M)
            if apart and self._can_stand(x, y, surface.room, surface.open, FAR_REACH_M):
                return self._resting(x, y, z, surface.room, surface.uid)
        return None

    def inside(self, thing: Thing, container: str, around: Arrangement) -> Resting | None:
        """On the bottom of a pot or a basket that is empty."""
        holder, place = around.things[container], around.places[container]
        if not thing.fits_inside or thing.radius > holder.room_inside - 0.02 or around.contents(container):
            return None
        z = place.z - holder.height / 2 + holder.floor_inside + thing.height / 2
        found = self._resting(place.x, place.y, z, place.room, place.on)
        return Resting(found.x, found.y, z, found.yaw, place.room, place.on, inside=container)

    def behind(self, thing: Thing, front: str, around: Arrangement) -> Resting | None:
        """Further from the edge than something tall, and close to it."""
        cover, place = around.things[front], around.places[front]
        surface = next((s for s in self.house.surfaces if s.uid == place.on), None)
        if surface is None or cover.height < 0.12 or not surface.is_open_above:
            return None
        away = cover.radius + thing.radius + CROWDED_M
        for dx, dy in surface.open:
            x, y = round(place.x - away * dx, _MM), round(place.y - away * dy, _MM)
            z = surface.height + thing.height / 2
            fits = surface.rect.grown(-thing.radius - _EDGE_M).holds(Rect(x, y, x, y))
            others = around.without(front)
            if (
                fits
                and others.has_room(thing, x, y, z)
                and self._can_stand(x, y, surface.room, surface.open, FAR_REACH_M)
            ):
                found = self._resting(x, y, z, surface.room, surface.uid)
                return Resting(found.x, found.y, z, found.yaw, found.room, found.on, crowded=True)
        return None

    def on_floor(self, thing: Thing, room: int, around: Arrangement) -> Resting | None:
        """Amid free floor, away from doorways."""
        planned = self.house.room(room)
        inner = planned.inner.grown(-0.45)
        doors = [d.zone(0.8).grown(0.1) for d in self.house.doors if room in d.rooms]
        pieces = [p.footprint.grown(0.40) for p in self.house.pieces if p.room == room]
        for _ in range(2 * _TRIES):
            x = round(float(self.rng.uniform(inner.x_min, inner.x_max)), _MM)
            y = round(float(self.rng.uniform(inner.y_min, inner.y_max)), _MM)
            point, z = Rect(x, y, x, y), thing.height / 2
            if any(taken.grown(1e-6).overlaps(point.grown(1e-6)) for taken in (*doors, *pieces)):
                continue
            everywhere = ((1, 0), (0, 1), (-1, 0), (0, -1))
            if around.has_room(thing, x, y, z, 0.35) and self._can_stand(x, y, room, everywhere, REACH_M):
                return self._resting(x, y, z, room, floor_of(room))
        return None

    def _along_edges(self, thing: Thing, surface: Surface) -> Iterator[tuple[float, float, tuple[int, int]]]:
        """Points near the surface's open edges, and the edge that each is near to."""
        least = max(thing.radius + _EDGE_M, _INSET_M[0])
        for _ in range(_TRIES):
            side = surface.open[int(self.rng.integers(len(surface.open)))]
            depth = 2 * surface.rect.half[0 if side[0] else 1]
            most = min(max(_INSET_M[1], least), depth - thing.radius - _EDGE_M)
            inset = float(self.rng.uniform(least, most)) if most > least else depth / 2
            x, y = self._across(surface.rect, side, thing.radius + _EDGE_M, inset)
            if surface.rect.grown(-thing.radius).holds(Rect(x, y, x, y)):
                yield x, y, side

    def _across(self, rect: Rect, side: tuple[int, int], margin: float, inset: float) -> tuple[float, float]:
        """A point at `inset` from one edge, and anywhere along it."""
        (cx, cy), (half_x, half_y) = rect.centre, rect.half
        along = max((half_y if side[0] else half_x) - margin, 0.0)
        shift = float(self.rng.uniform(-along, along))
        if side[0]:
            return round(cx + side[0] * (half_x - inset), _MM), round(cy + shift, _MM)
        return round(cx + shift, _MM), round(cy + side[1] * (half_y - inset), _MM)

    def _can_stand(self, x: float, y: float, room: int, sides: Sequence[tuple[int, int]], reach: float) -> bool:
        """Whether a base finds several places within reach, on one of the sides and not beyond other furniture."""
        angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)[:, None]
        radius = np.array([reach - 0.2, reach - 0.1, reach])
        dx, dy = radius * np.cos(angle), radius * np.sin(angle)
        free = is_free(self.house.room(room), self.house.pieces, x + dx, y + dy)
        facing = np.zeros_like(free)
        for sx, sy in sides:
            facing |= dx * sx + dy * sy >= 0.7 * radius
        return int((free & facing).sum()) >= _SPOTS_MIN

    def _resting(self, x: float, y: float, z: float, room: int, on: str) -> Resting:
        yaw = round(float(self.rng.uniform(-np.pi, np.pi)), 2)
        return Resting(x, y, round(z, 5), yaw, room, on)
