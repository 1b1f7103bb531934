"""From a house's plan to a MuJoCo specification."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.scenes.houses.floorplan import DOOR_WIDTH_M, WALL_M, Door, PlannedRoom
from sbench_dag.scenes.houses.furniture import Part, Piece, Shape
from sbench_dag.scenes.houses.geometry import Rect
from sbench_dag.scenes.houses.home import HousePlan
from sbench_dag.scenes.houses.looks import look_of
from sbench_dag.scenes.houses.palette import add_materials, add_sky
from sbench_dag.scenes.houses.plan import Interior
from sbench_dag.scenes.houses.resting import Arrangement, floor_of
from sbench_dag.scenes.houses.walls import add_wall_decor

WALL_HEIGHT_M, DOOR_HEIGHT_M = 2.5, 2.05
_FLOOR_M = 0.05
_GEOMS = {
    Shape.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    Shape.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Shape.ELLIPSOID: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


def build_spec(plan: HousePlan) -> mujoco.MjSpec:
    """Rooms, furniture and things; without a robot."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    house = plan.interior
    add_materials(spec, house.index, tuple(room.name for room in house.rooms))
    add_sky(spec)
    _add_light(spec, house)
    for room in house.rooms:
        _add_room(spec, room, house)
    for piece in house.pieces:
        _add_piece(spec, piece)
    _add_things(spec, house.index, plan.home)
    return spec


def floor_geom(room: int) -> str:
    return f"{floor_of(room)}/floor"


def yaw_quat(yaw: float) -> np.ndarray:
    return np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])


def _add_light(spec: mujoco.MjSpec, house: Interior) -> None:
    """Daylight from one side, and a lamp under every room's missing ceiling."""
    spec.visual.headlight.ambient[:] = 0.48
    spec.visual.headlight.diffuse[:] = 0.22
    spec.visual.headlight.specular[:] = 0.0
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=(0.35, 0.5, -1.0), pos=(0, 0, 5), castshadow=False,
        diffuse=(0.30, 0.29, 0.27), specular=(0.05, 0.05, 0.05),
    )  # fmt: skip
    for room in house.rooms:
        x, y = room.room.centre
        spec.worldbody.add_light(
            pos=(x, y, 2.4), dir=(0, 0, -1), castshadow=False, attenuation=(0.7, 0.0, 0.12), cutoff=85.0,
            diffuse=(0.46, 0.44, 0.41), specular=(0.10, 0.10, 0.10),
        )  # fmt: skip


def _add_room(spec: mujoco.MjSpec, room: PlannedRoom, house: Interior) -> None:
    index = room.room.index
    body = spec.worldbody.add_body(name=floor_of(index))
    bounds = Rect(room.room.x_min, room.room.y_min, room.room.x_max, room.room.y_max)
    _add_block(body, bounds, -_FLOOR_M, 0.0, f"floor{index}", name=floor_geom(index))
    for wall, vertical in _walls(bounds):
        doors = [d for d in house.doors if index in d.rooms and d.vertical == vertical and _in_wall(d, wall)]
        start, end = (wall.y_min, wall.y_max) if vertical else (wall.x_min, wall.x_max)
        for door in sorted(doors, key=lambda d: d.y if vertical else d.x):
            middle = door.y if vertical else door.x
            low, high = middle - DOOR_WIDTH_M / 2, middle + DOOR_WIDTH_M / 2
            _add_block(body, _part_of(wall, vertical, start, low), 0.0, WALL_HEIGHT_M, f"wall{index}")
            _add_block(body, _part_of(wall, vertical, low, high), DOOR_HEIGHT_M, WALL_HEIGHT_M, f"wall{index}")
            start = high
        _add_block(body, _part_of(wall, vertical, start, end), 0.0, WALL_HEIGHT_M, f"wall{index}")
    add_wall_decor(body, room, house)


def _walls(bounds: Rect) -> list[tuple[Rect, bool]]:
    """The four walls of a room, within its bounds, and whether each runs along y."""
    x0, y0, x1, y1 = bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max
    return [
        (Rect(x0, y0, x0 + WALL_M, y1), True),
        (Rect(x1 - WALL_M, y0, x1, y1), True),
        (Rect(x0, y0, x1, y0 + WALL_M), False),
        (Rect(x0, y1 - WALL_M, x1, y1), False),
    ]


def _in_wall(door: Door, wall: Rect) -> bool:
    return wall.grown(1e-3).holds(Rect(door.x, door.y, door.x, door.y))


def _part_of(wall: Rect, vertical: bool, start: float, end: float) -> Rect:
    return Rect(wall.x_min, start, wall.x_max, end) if vertical else Rect(start, wall.y_min, end, wall.y_max)


def _add_block(body: mujoco.MjsBody, rect: Rect, low: float, high: float, material: str, name: str = "") -> None:
    (x, y), (half_x, half_y) = rect.centre, rect.half
    body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(x, y, (low + high) / 2),
        size=(half_x, half_y, (high - low) / 2),
        material=material,
    )


def _add_piece(spec: mujoco.MjSpec, piece: Piece) -> None:
    quat = yaw_quat(piece.turns * np.pi / 2)
    body = spec.worldbody.add_body(name=piece.uid, pos=(piece.x, piece.y, 0.0), quat=quat)
    for part in piece.kind.parts:
        _add_part(body, part)
    for k, level in enumerate(piece.kind.levels):
        body.add_site(
            name=f"{piece.uid}/surface{k}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=(level.x, level.y, level.height),
            size=(level.half_x, level.half_y, 0.001),
            group=4,  # hidden unless somebody asks for it
        )


def _add_part(body: mujoco.MjsBody, part: Part) -> None:
    touch = {} if part.solid else {"contype": 0, "conaffinity": 0}
    size = (part.half[0], part.half[2], 0.0) if part.shape is Shape.CYLINDER else part.half
    body.add_geom(type=_GEOMS[part.shape], pos=part.centre, size=size, material=part.material, **touch)


def _add_things(spec: mujoco.MjSpec, house: int, home: Arrangement) -> None:
    for uid, thing in home.things.items():
        place = home.places[uid]
        body = spec.worldbody.add_body(name=uid, pos=(place.x, place.y, place.z), quat=yaw_quat(place.yaw))
        body.add_freejoint(name=uid)
        thing.build(body, look_of(thing.category, house))
