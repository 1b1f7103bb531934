"""What a gripper needs to know about an object, read off the object's geoms."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

_BOX, _SPHERE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_SPHERE
_CYLINDER, _CAPSULE = mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE
_RING_MIN = 8  # boxes that it takes to be a wall and not just a few parts


@dataclass(frozen=True)
class Part:
    """A solid part in the object's frame: centre (3,), rotation (3, 3), half sizes (3,) along the part's own axes.

    round_axis: index of the axis about which the part is round, 3 for a ball, None for a block.
    """

    centre: np.ndarray
    rotation: np.ndarray
    half: np.ndarray
    round_axis: int | None


@dataclass(frozen=True)
class Rim:
    """The upper edge of a wall of boxes around the object's z axis, as of a mug, a bowl or a plate.

    radius_m: of the wall's middle at the edge. height_m: of the edge above the object's origin.
    lean_rad: of the wall from the vertical, outwards. blocked: (azimuth, half width) in radians of what sticks out.
    """

    radius_m: float
    height_m: float
    thickness_m: float
    lean_rad: float
    blocked: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Shape:
    """An object's parts, and its rim if it is hollow."""

    parts: tuple[Part, ...]
    rim: Rim | None


def shape_of(model: mujoco.MjModel, body: int) -> Shape:
    """The shape of a body in the body's own frame."""
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body and model.geom_contype[g]]
    parts = [_part(model, geom) for geom in geoms]
    wall = _wall(model, geoms, parts)
    others = [part for geom, part in zip(geoms, parts, strict=True) if geom not in wall]
    rim = _rim([part for geom, part in zip(geoms, parts, strict=True) if geom in wall], others) if wall else None
    return Shape(tuple(parts), rim)


def _part(model: mujoco.MjModel, geom: int) -> Part:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, model.geom_quat[geom])
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == _SPHERE:
        half, round_axis = np.full(3, size[0]), 3
    elif kind == _CYLINDER:
        half, round_axis = np.array([size[0], size[0], size[1]]), 2
    elif kind == _CAPSULE:
        half, round_axis = np.array([size[0], size[0], size[0] + size[1]]), 2
    else:  # boxes and ellipsoids have their half sizes as sizes; anything else is its bounding box
        half, round_axis = model.geom_aabb[geom][3:].copy(), None
    return Part(model.geom_pos[geom].copy(), matrix.reshape(3, 3), half, round_axis)


def _wall(model: mujoco.MjModel, geoms: list[int], parts: list[Part]) -> set[int]:
    """Geoms that form the highest ring: equal boxes at one height and one distance from the z axis."""
    rings: dict[tuple[float, ...], set[int]] = {}
    for geom, part in zip(geoms, parts, strict=True):
        radius = float(np.hypot(part.centre[0], part.centre[1]))
        if model.geom_type[geom] == _BOX and radius > 1e-3:
            ring = (*np.round(part.half, 4), round(radius, 3), round(float(part.centre[2]), 3))
            rings.setdefault(ring, set()).add(geom)
    closed = [(ring[-1], geoms) for ring, geoms in rings.items() if len(geoms) >= _RING_MIN]
    return max(closed, key=lambda found: found[0])[1] if closed else set()


def _rim(wall: list[Part], others: list[Part]) -> Rim:
    box = wall[0]
    azimuth = np.arctan2(box.centre[1], box.centre[0])
    outwards = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    thin = int(np.argmin(box.half))
    along_circle = np.cross((0.0, 0.0, 1.0), outwards)
    # of the two long axes one runs along the circle, the other one up
    up = next(axis for axis in range(3) if axis != thin and abs(box.rotation[:, axis] @ along_circle) < 0.5)
    direction = box.rotation[:, up] * (1 if box.rotation[2, up] >= 0 else -1)
    edge = box.centre + direction * box.half[up]
    radius = float(np.hypot(edge[0], edge[1]))
    lean = float(np.arctan2(direction @ outwards, direction[2]))
    blocked = []
    for part in others:
        distance = float(np.hypot(part.centre[0], part.centre[1]))
        reach = float(np.abs(part.rotation[:2] @ part.half).max())
        if distance > 1e-3 and distance + reach > radius + 0.005:
            blocked.append((float(np.arctan2(part.centre[1], part.centre[0])), 0.6))
    return Rim(radius, float(edge[2]), 2 * float(box.half[thin]), lean, tuple(blocked))
