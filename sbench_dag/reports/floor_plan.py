"""A house as it looks from above: rooms, walls, furniture and what lies about, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.free_floor import COLUMN_TOP_M
from sbench_dag.scenes.geometry import geom_corners
from sbench_dag.scenes.scene import Furniture, Room
from sbench_dag.scenes.world import World

_FLOOR_M = 0.02  # what ends below it is a carpet
_WALL_THICK_M, _WALL_HIGH_M = 0.35, 1.2
_BEYOND_M = 2.0  # how much of a room is shown beyond what stands in it: some floors have no edge
_EPSILON_M = 1e-3


@dataclass(frozen=True)
class Footprint:
    """What a thing covers of the floor: convex outlines, each (N, 2) in metres, counter-clockwise."""

    uid: str
    name: str
    outlines: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class RoomArea:
    """A room, as far as it is shown. Bounds in metres."""

    index: int
    name: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float


@dataclass(frozen=True)
class PlacedObject:
    """An object in the settled end state. names: its category first. where: what it rests on, and in which room."""

    uid: str
    names: tuple[str, ...]
    x: float
    y: float
    where: str


@dataclass(frozen=True)
class FloorPlan:
    """walls: what of the building a robot could run into. fixtures: what stands there and is no furniture to the scene.

    start: where the robot stood when the episode ended. bounds: x_min, y_min, x_max, y_max of what is shown.
    """

    rooms: tuple[RoomArea, ...]
    walls: tuple[np.ndarray, ...]
    fixtures: tuple[Footprint, ...]
    furniture: tuple[Footprint, ...]
    objects: tuple[PlacedObject, ...]
    start: BasePose
    bounds: tuple[float, float, float, float]


def floor_plan(world: World) -> FloorPlan:
    """The floor plan of an episode's house in its settled end state."""
    furniture = tuple(
        Footprint(piece.uid, piece.name, _without_covered(outline for outline, _ in _outlines(world, piece.bodies)))
        for piece in world.scene.furniture
    )
    walls, fixtures = _rest_of_the_house(world)
    objects = tuple(_placed(world, uid) for uid in sorted(world.scene.objects))
    bounds = _bounds(world, [outline for thing in (*furniture, *fixtures) for outline in thing.outlines], objects)
    rooms = tuple(_area(world, room, bounds) for room in world.scene.rooms)
    return FloorPlan(rooms, walls, fixtures, furniture, objects, world.recorded_base, bounds)


def _rest_of_the_house(world: World) -> tuple[tuple[np.ndarray, ...], tuple[Footprint, ...]]:
    """Walls and fixtures. What begins above the robot, as a lintel does, is neither."""
    scene, model = world.scene, world.model
    known = {body for piece in scene.furniture for body in piece.bodies}
    known |= {thing.body for thing in scene.objects.values()} | set(np.flatnonzero(scene.robot.bodies).tolist())
    walls: list[np.ndarray] = []
    fixtures: list[Footprint] = []
    for body in range(model.nbody):
        if body in known:
            continue
        rest = []
        for outline, (low, high) in _outlines(world, {body}):
            if high <= _FLOOR_M or low >= COLUMN_TOP_M:
                continue
            thin = float((outline.max(axis=0) - outline.min(axis=0)).min()) <= _WALL_THICK_M
            (walls if thin and high >= _WALL_HIGH_M else rest).append(outline)
        if rest:
            name = model.body(body).name
            fixtures.append(Footprint(name, name, _without_covered(rest)))
    return tuple(walls), tuple(fixtures)


def _outlines(world: World, bodies: Iterable[int]) -> Iterator[tuple[np.ndarray, tuple[float, float]]]:
    """Of each colliding geom of the bodies that is no floor: its outline from above, its lowest and highest z."""
    model = world.model
    for body in sorted(bodies):
        first = int(model.body_geomadr[body])
        for geom in range(first, first + int(model.body_geomnum[body])):
            collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
            is_plane = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
            if not collides or is_plane or geom in world.scene.floors:
                continue
            corners = geom_corners(model, world.settled, geom)
            outline = _hull(corners[:, :2])
            if outline is not None:
                yield outline, (float(corners[:, 2].min()), float(corners[:, 2].max()))


def _hull(points: np.ndarray) -> np.ndarray | None:
    """None of what has no area."""
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        return None


def _without_covered(outlines: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Without what lies under another one, as a table's legs do. Every point is compared with every outline."""
    kept: list[np.ndarray] = []
    for outline in sorted(outlines, key=_area_of, reverse=True):
        if not any(_covers(other, outline) for other in kept):
            kept.append(outline)
    return tuple(kept)


def _area_of(outline: np.ndarray) -> float:
    x, y = outline.T
    return float(abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def _covers(outline: np.ndarray, points: np.ndarray) -> bool:
    """Whether all points lie in a convex, counter-clockwise outline."""
    edge = np.roll(outline, -1, axis=0) - outline
    away = points[:, None, :] - outline[None, :, :]
    inside = edge[:, 0] * away[..., 1] - edge[:, 1] * away[..., 0]
    return bool((inside >= -_EPSILON_M * np.linalg.norm(edge, axis=1)).all())


def _placed(world: World, uid: str) -> PlacedObject:
    x, y, _ = world.object_position(uid)
    support, room = world.supports[uid], world.scene.room_at(x, y)
    place = "outside the rooms" if room is None else _room_name(world, room)
    if isinstance(support, Furniture):
        where = f"on the {support.name} ({support.uid}), {place}"
    else:
        where = f"on the floor, {place}" if isinstance(support, Room) else f"on nothing that has a name, {place}"
    return PlacedObject(uid, world.scene.objects[uid].names, float(x), float(y), where)


def _room_name(world: World, room: Room) -> str:
    return world.episode.eval_spec.room_names.get(room.index, f"room {room.index}")


def _bounds(
    world: World, outlines: list[np.ndarray], objects: Iterable[PlacedObject]
) -> tuple[float, float, float, float]:
    """Of the rooms, cut where they go on beyond all that stands in them."""
    start, rooms = world.recorded_base, world.scene.rooms
    points = np.concatenate([[(start.x, start.y), *((thing.x, thing.y) for thing in objects)], *outlines])
    first, last = points.min(axis=0), points.max(axis=0)
    house_first = min(room.x_min for room in rooms), min(room.y_min for room in rooms)
    house_last = max(room.x_max for room in rooms), max(room.y_max for room in rooms)
    low = np.minimum(first, np.maximum(house_first, first - _BEYOND_M))
    high = np.maximum(last, np.minimum(house_last, last + _BEYOND_M))
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _area(world: World, room: Room, bounds: tuple[float, float, float, float]) -> RoomArea:
    x_min, y_min, x_max, y_max = bounds
    return RoomArea(
        room.index,
        _room_name(world, room),
        max(room.x_min, x_min),
        max(room.y_min, y_min),
        min(room.x_max, x_max),
        min(room.y_max, y_max),
    )
