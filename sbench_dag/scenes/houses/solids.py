"""Geoms of light household things, with the contact settings that friction grasps were measured with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

Colour = tuple[float, float, float]
Colours = tuple[Colour, Colour]  # the main one, and that of details

_GEOM = mujoco.mjtGeom
_TOUCH: dict[str, Any] = {"condim": 3, "friction": (0.8, 0.005, 0.0001)}
_ROLL: dict[str, Any] = {"condim": 6, "friction": (0.8, 0.005, 0.002)}
# the square's half side as a share of the radius, its share of the mass, and by how much it is lower
_FOOT, _FOOT_SHARE, _FOOT_M = 0.68, 0.1, 0.0003
_SEEN: dict[str, Any] = {"contype": 0, "conaffinity": 0, "mass": 0.0}


def block(
    body: mujoco.MjsBody,
    size: Sequence[float],
    mass: float,
    colour: Colour,
    pos: Sequence[float] = (0, 0, 0),
    yaw: float = 0.0,
) -> None:
    """A block of full size (x, y, z) in metres."""
    half = [s / 2 for s in size]
    body.add_geom(type=_GEOM.mjGEOM_BOX, size=half, pos=pos, quat=_about_z(yaw), mass=mass, rgba=(*colour, 1), **_TOUCH)


def cylinder(body: mujoco.MjsBody, radius: float, low: float, high: float, mass: float, colour: Colour) -> None:
    """An upright cylinder from height low to high."""
    size, z = (radius, (high - low) / 2, 0), (low + high) / 2
    body.add_geom(type=_GEOM.mjGEOM_CYLINDER, size=size, pos=(0, 0, z), mass=mass, rgba=(*colour, 1), **_TOUCH)


def standing(body: mujoco.MjsBody, radius: float, low: float, high: float, mass: float, colour: Colour) -> None:
    """A cylinder that something stands on: it rests on a square foot, a hair lower than the cylinder.

    Two flat blocks touch at four corners that stay where they are; a round bottom rocks between its contact points
    and, in some versions of MuJoCo, never falls asleep.
    """
    half, thin = _FOOT * radius, min(0.002, (high - low) / 2)
    size, z = (2 * half, 2 * half, thin), low + thin / 2
    block(body, size, _FOOT_SHARE * mass, colour, (0, 0, z))
    cylinder(body, radius, low + _FOOT_M, high, (1 - _FOOT_SHARE) * mass, colour)


def ellipsoid(body: mujoco.MjsBody, half: Sequence[float], mass: float, colour: Colour) -> None:
    body.add_geom(type=_GEOM.mjGEOM_ELLIPSOID, size=half, mass=mass, rgba=(*colour, 1), **_TOUCH)


def ball(body: mujoco.MjsBody, radius: float, mass: float, colour: Colour) -> None:
    """With rolling friction, without which it would never come to rest."""
    body.add_geom(type=_GEOM.mjGEOM_SPHERE, size=(radius, 0, 0), mass=mass, rgba=(*colour, 1), **_ROLL)


def seen_box(body: mujoco.MjsBody, size: Sequence[float], colour: Colour, pos: Sequence[float]) -> None:
    """A detail that nothing can touch."""
    body.add_geom(type=_GEOM.mjGEOM_BOX, size=[s / 2 for s in size], pos=pos, rgba=(*colour, 1), **_SEEN)


def seen_cylinder(body: mujoco.MjsBody, radius: float, height: float, colour: Colour, pos: Sequence[float]) -> None:
    body.add_geom(type=_GEOM.mjGEOM_CYLINDER, size=(radius, height / 2, 0), pos=pos, rgba=(*colour, 1), **_SEEN)


def ring(
    body: mujoco.MjsBody,
    count: int,
    low: tuple[float, float],
    high: tuple[float, float],
    thickness: float,
    mass: float,
    colour: Colour,
) -> None:
    """A wall of `count` blocks around the z axis, from circle (radius, z) `low` to circle `high`.

    The radii are those of the middle of the wall.
    """
    rise, spread = high[1] - low[1], high[0] - low[0]
    length, lean = float(np.hypot(spread, rise)), float(np.arctan2(spread, rise))
    radius, z = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
    half_width = 1.02 * max(low[0], high[0]) * np.tan(np.pi / count)
    for i in range(count):
        azimuth = 2 * np.pi * i / count
        quat = np.zeros(4)
        tilt = np.array([np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0])
        mujoco.mju_mulQuat(quat, _about_z(azimuth), tilt)
        body.add_geom(
            type=_GEOM.mjGEOM_BOX,
            size=(thickness / 2, half_width, length / 2),
            pos=(radius * np.cos(azimuth), radius * np.sin(azimuth), z),
            quat=quat,
            mass=mass / count,
            rgba=(*colour, 1),
            **_TOUCH,
        )


def _about_z(angle: float) -> np.ndarray:
    return np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
