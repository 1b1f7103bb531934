"""Candidate grasps from above for an object's shape: where the hand goes, and how far it opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sbench_dag.robot.fr3 import FINGER_BEYOND_TCP_M
from sbench_dag.robot.frames import pitch_matrix, roll_matrix, yaw_matrix
from sbench_dag.robot.robot import OPEN_M
from sbench_dag.robot.shapes import Part, Rim, Shape

GRASPABLE_M = 0.076  # the fingers open to 0.080
_FLOOR_GAP_M = 0.0015  # between finger tips and what a flat object lies on
_FINGER_DEPTH_M = 0.03  # how deep the fingers reach down a tall part
_SPARE_M = 0.03  # opening beyond the object's width, where there is room for it
_RIM_AZIMUTHS, _ROUND_AZIMUTHS = 16, 8
_TALL_TILTS = (0.0, 0.3, -0.3, 0.6, -0.6)
_FLAT_TILTS = (0.0, 0.15, -0.15, 0.3, -0.3)
_UPRIGHT = 0.95  # cosine up to which an axis counts as vertical


@dataclass(frozen=True)
class Grasp:
    """A hand pose in the world: rotation (3, 3) of the tool (z: approach, y: closing), position (3,) of its centre
    point, and the width to open to before."""

    rotation: np.ndarray
    position: np.ndarray
    width_m: float

    @property
    def approach(self) -> np.ndarray:
        return self.rotation[:, 2]


def grasps(shape: Shape, position: np.ndarray, rotation: np.ndarray, facing: float) -> list[Grasp]:
    """Candidates for an object at a pose in the world, the ones first whose wrist turns least.

    facing: yaw of the robot's base; a hand at home closes across it.
    """
    rim_up = shape.rim is not None and rotation[2, 2] > _UPRIGHT
    if rim_up and shape.rim is not None:
        found = list(_rim_grasps(shape.rim, position, rotation))
    else:
        found = list(_part_grasps(_highest(shape, rotation), position, rotation, _bottom(shape, position, rotation)))
    across = np.array([-np.sin(facing), np.cos(facing), 0.0])
    return sorted(found, key=lambda g: round(_effort(g, across), 6))


def _effort(grasp: Grasp, across: np.ndarray) -> float:
    turn = np.arccos(np.clip(abs(grasp.rotation[:, 1] @ across), 0.0, 1.0))
    leaning = np.arccos(np.clip(-grasp.approach[2], -1.0, 1.0))
    return float(turn + 0.5 * leaning)


def _hand(yaw: float, tilt: float = 0.0, lean: float = 0.0) -> np.ndarray:
    """A hand that points down and closes along `yaw`; tilt turns it about the closing axis, lean along it."""
    return yaw_matrix(yaw - np.pi / 2) @ roll_matrix(np.pi) @ pitch_matrix(tilt) @ roll_matrix(lean)


def _rim_grasps(rim: Rim, position: np.ndarray, rotation: np.ndarray) -> Iterator[Grasp]:
    """One finger inside, one outside, the hand leaning with the wall."""
    object_yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
    depth = 0.012 * np.cos(rim.lean_rad) ** 2
    radius = rim.radius_m - depth * np.tan(rim.lean_rad)
    leans = _hand_leans(rim.lean_rad)
    tilts = (0.0, 0.3, -0.3) if rim.lean_rad < 0.7 else (0.0,)
    width = 0.045 if rim.lean_rad < 0.7 else 0.03
    for azimuth in np.arange(_RIM_AZIMUTHS) * (2 * np.pi / _RIM_AZIMUTHS):
        if any(abs(np.angle(np.exp(1j * (azimuth - at)))) < half for at, half in rim.blocked):
            continue
        yaw = object_yaw + azimuth
        point = position + radius * np.array([np.cos(yaw), np.sin(yaw), 0.0])
        point[2] = position[2] + rim.height_m - depth
        for lean in leans:
            for tilt in tilts:
                yield Grasp(_hand(yaw, tilt, -lean), point, width)
                yield Grasp(_hand(yaw + np.pi, tilt, lean), point, width)


def _hand_leans(wall_lean: float) -> tuple[float, ...]:
    """A flat plate's wall leans further than a hand can: 0.8 rad is what passes between rim and table."""
    if wall_lean < 0.05:
        return (0.0,)
    most = min(0.9 * wall_lean, 0.8)
    return (most,) if wall_lean < 0.7 else (most, most - 0.2, most + 0.2)


def _part_grasps(part: Part, position: np.ndarray, rotation: np.ndarray, bottom: float) -> Iterator[Grasp]:
    """Across the part: its shorter side, or any direction if it is round as seen from above."""
    axes = rotation @ part.rotation
    centre = position + rotation @ part.centre
    up = int(np.argmax(np.abs(axes[2])))
    half_height = float(np.abs(axes[2]) @ part.half)
    top = centre[2] + half_height
    height = max(top - _FINGER_DEPTH_M, bottom + FINGER_BEYOND_TCP_M + _FLOOR_GAP_M)
    if part.round_axis == 3:
        height = centre[2]  # a ball is held at its equator
    tilts = _TALL_TILTS if top - bottom > 0.03 else _FLAT_TILTS
    if part.round_axis == 3 or (part.round_axis == up and abs(axes[2, up]) > _UPRIGHT):
        width = 2 * float(part.half[0])
        yaws = [(a, width) for a in np.arange(_ROUND_AZIMUTHS) * (np.pi / _ROUND_AZIMUTHS)]
    else:
        sides = sorted((i for i in range(3) if i != up), key=lambda i: part.half[i])
        yaws = [(float(np.arctan2(axes[1, i], axes[0, i])), 2 * float(part.half[i])) for i in sides]
    for yaw, width in yaws:
        if width > GRASPABLE_M:
            continue
        for shift in _shifts(part, axes, up, yaw):
            for tilt in tilts:
                raised = abs(tilt) * 0.008 if tilts is _FLAT_TILTS else 0.0
                point = np.array([centre[0], centre[1], height + raised]) + shift
                for turn in (0.0, np.pi):
                    yield Grasp(_hand(yaw + turn, tilt), point, min(OPEN_M, width + _SPARE_M))


def _shifts(part: Part, axes: np.ndarray, up: int, yaw: float) -> list[np.ndarray]:
    """Where along a long part to hold it: its middle, then 3 cm to either side."""
    closing = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    long = min((i for i in range(3) if i != up), key=lambda i: abs(axes[:, i] @ closing))
    if part.round_axis is not None or part.half[long] < 0.05:
        return [np.zeros(3)]
    along = axes[:, long] * np.array([1.0, 1.0, 0.0])
    return [np.zeros(3), 0.03 * along, -0.03 * along]


def _highest(shape: Shape, rotation: np.ndarray) -> Part:
    """The part that a hand from above meets first: a bottle's neck, a knife's handle."""

    def top(part: Part) -> float:
        return float((rotation @ part.centre)[2] + np.abs((rotation @ part.rotation)[2]) @ part.half)

    return max(shape.parts, key=top)


def _bottom(shape: Shape, position: np.ndarray, rotation: np.ndarray) -> float:
    """The object's lowest height."""
    lows = [(rotation @ p.centre)[2] - np.abs((rotation @ p.rotation)[2]) @ p.half for p in shape.parts]
    return float(position[2] + min(lows))
