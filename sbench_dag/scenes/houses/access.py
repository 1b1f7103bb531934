"""Where a robot's base can stand, told from footprints alone. Cautious: a table counts as solid down to the floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

from sbench_dag.scenes.houses.floorplan import DOOR_WIDTH_M, WALL_M, Door, PlannedRoom
from sbench_dag.scenes.houses.furniture import Piece
from sbench_dag.scenes.houses.geometry import Rect

BASE_M = 0.26  # the base's radius and a margin
_CELL_M = 0.05


def is_free(room: PlannedRoom, pieces: Sequence[Piece], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether a base fits at each of the points (...,), within the room and its doorways left aside."""
    inner = room.inner.grown(-BASE_M)
    free = (x >= inner.x_min) & (x <= inner.x_max) & (y >= inner.y_min) & (y <= inner.y_max)
    for piece in pieces:
        if piece.room == room.room.index:
            free &= _distance(piece.footprint, x, y) >= BASE_M
    return free


def all_accessible(rooms: Sequence[PlannedRoom], doors: Sequence[Door], pieces: Sequence[Piece]) -> bool:
    """Whether one can get from anywhere to the front of every piece, through the doorways."""
    x_max, y_max = max(r.room.x_max for r in rooms), max(r.room.y_max for r in rooms)
    x, y = np.meshgrid(np.arange(0.0, x_max, _CELL_M), np.arange(0.0, y_max, _CELL_M))
    free = np.zeros(x.shape, dtype=bool)
    for room in rooms:
        free |= is_free(room, pieces, x, y)
    for door in doors:
        gap = DOOR_WIDTH_M / 2 - BASE_M
        reach = WALL_M + BASE_M + _CELL_M
        free |= _inside(Rect.around(door.x, door.y, *((reach, gap) if door.vertical else (gap, reach))), x, y)
    parts = np.zeros(free.shape, dtype=np.int32)
    if ndimage.label(free, output=parts) == 0:
        return False
    largest = 1 + int(np.argmax(np.bincount(parts[parts > 0])[1:]))
    return all(bool((parts[_inside(piece.access, x, y)] == largest).any()) for piece in pieces) and all(
        bool((parts[_inside(room.inner, x, y)] == largest).any()) for room in rooms
    )


def _distance(rect: Rect, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    dx = np.maximum(np.maximum(rect.x_min - x, x - rect.x_max), 0.0)
    dy = np.maximum(np.maximum(rect.y_min - y, y - rect.y_max), 0.0)
    return np.hypot(dx, dy)


def _inside(rect: Rect, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x >= rect.x_min) & (x <= rect.x_max) & (y >= rect.y_min) & (y <= rect.y_max)
