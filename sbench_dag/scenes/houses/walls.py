"""What hangs on walls and lies on floors to make a room pleasant. None of it can be touched."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco

from sbench_dag.scenes.houses.floorplan import DOOR_WIDTH_M, PlannedRoom
from sbench_dag.scenes.houses.geometry import Rect
from sbench_dag.scenes.houses.plan import Interior
from sbench_dag.scenes.houses.rng import stable_rng

_TALL_M = 0.95  # furniture higher than this leaves the wall behind it bare
_RUG_ROOMS = {"living room": "coffeetable", "dining room": "diningtable", "bedroom": "bed", "guest room": "bed"}


def add_wall_decor(body: mujoco.MjsBody, room: PlannedRoom, house: Interior) -> None:
    """Windows in outer walls, pictures on the others, and a rug."""
    rng = stable_rng("decor", house.index, room.room.index)
    for normal, outer in _sides(room, house):
        free = [at for at in _free_places(room, house, normal) if rng.random() < 0.8]
        for at in free[: 2 if outer else 1]:
            art = "art_a" if rng.random() < 0.5 else "art_b"
            _hang(
                body,
                room.inner,
                normal,
                at,
                (0.60, 0.50, 1.55) if outer else (0.26, 0.20, 1.60),
                "glass" if outer else art,
            )
    wanted = _RUG_ROOMS.get(room.name)
    for piece in house.pieces:
        if piece.room == room.room.index and piece.kind.slug == wanted:
            _lay_rug(body, room, piece.footprint.grown(0.45))


def _sides(room: PlannedRoom, house: Interior) -> Iterator[tuple[tuple[int, int], bool]]:
    """Direction into the room from each of its walls, and whether the wall is an outer one."""
    own = room.room
    x_max, y_max = max(r.room.x_max for r in house.rooms), max(r.room.y_max for r in house.rooms)
    yield (1, 0), own.x_min < 1e-6
    yield (-1, 0), own.x_max > x_max - 1e-6
    yield (0, 1), own.y_min < 1e-6
    yield (0, -1), own.y_max > y_max - 1e-6


def _free_places(room: PlannedRoom, house: Interior, normal: tuple[int, int]) -> Iterator[float]:
    """Positions along a wall, thirds apart, without a doorway or tall furniture."""
    inner = room.inner
    along_x = normal[0] == 0
    start, end = (inner.x_min, inner.x_max) if along_x else (inner.y_min, inner.y_max)
    for share in (0.5, 0.25, 0.75) if end - start < 5.0 else (0.3, 0.7):
        at = start + share * (end - start)
        if all(not zone.overlaps(_before_wall(inner, normal, at)) for zone in _taken(room, house)):
            yield at


def _taken(room: PlannedRoom, house: Interior) -> Iterator[Rect]:
    index = room.room.index
    for piece in house.pieces:
        tall = max(part.centre[2] + part.half[2] for part in piece.kind.parts) > _TALL_M
        if piece.room == index and tall:
            yield piece.footprint
    for door in house.doors:
        if index in door.rooms:
            yield Rect.around(door.x, door.y, DOOR_WIDTH_M / 2 + 0.2, DOOR_WIDTH_M / 2 + 0.2)


def _before_wall(inner: Rect, normal: tuple[int, int], at: float, half: float = 0.65, depth: float = 0.3) -> Rect:
    if normal[0]:
        x = inner.x_min if normal[0] > 0 else inner.x_max
        return Rect.around(x + normal[0] * depth / 2, at, depth / 2, half)
    y = inner.y_min if normal[1] > 0 else inner.y_max
    return Rect.around(at, y + normal[1] * depth / 2, half, depth / 2)


def _hang(
    body: mujoco.MjsBody,
    inner: Rect,
    normal: tuple[int, int],
    at: float,
    size: tuple[float, float, float],
    material: str,
) -> None:
    """A framed pane on a wall; size: half width, half height, height of its middle."""
    half_width, half_height, z = size
    for name, border, thick in (("frame", 0.05, 0.010), (material, 0.0, 0.014)):
        pane = _before_wall(inner, normal, at, half_width + border, 2 * thick)
        (x, y), (half_x, half_y) = pane.centre, pane.half
        _add_seen(body, (x, y, z), (half_x, half_y, half_height + border), name)


def _lay_rug(body: mujoco.MjsBody, room: PlannedRoom, wanted: Rect) -> None:
    inner = room.inner.grown(-0.10)
    rug = Rect(
        max(wanted.x_min, inner.x_min), max(wanted.y_min, inner.y_min),
        min(wanted.x_max, inner.x_max), min(wanted.y_max, inner.y_max),
    )  # fmt: skip
    (x, y), (half_x, half_y) = rug.centre, rug.half
    _add_seen(body, (x, y, 0.001), (half_x, half_y, 0.001), f"rug{room.room.index}")


def _add_seen(body: mujoco.MjsBody, pos: tuple[float, ...], size: tuple[float, ...], material: str) -> None:
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=pos, size=size, material=material, contype=0, conaffinity=0)
