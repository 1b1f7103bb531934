"""Where to stand: a collision-free pose of the base, on free floor, facing what it is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sbench_dag.grounding.anchor import Anchor, GroundingFailure
from sbench_dag.outcomes import Reason
from sbench_dag.robot.fr3 import HOME, LIFT_RANGE_M
from sbench_dag.robot.robot import OPEN_M, BasePose
from sbench_dag.scenes.placing import clear_distance
from sbench_dag.scenes.scene import Furniture, Room
from sbench_dag.scenes.world import World
from sbench_dag.study import NavigationSettings

BELOW_SURFACE_M = 0.15  # the arm reaches surfaces from 0.30 m below to 0.35 m above its mount
SHOULDER_M = 0.35
BEST_DISTANCE_M = 0.50
_DIRECTIONS = 48
_STEP_M = 0.05
_BLOCKED_COST = 1.0  # standing where the target can't be seen is worse than any distance, but better than nothing


@dataclass(frozen=True)
class _Spot:
    """A candidate (x, y) and what it costs; lower is better."""

    x: float
    y: float
    cost: float


def stand_near_object(world: World, uid: str, settings: NavigationSettings) -> BasePose:
    """A pose within the pick radius of an object, its lift at the height of what the object rests on."""
    x, y, z = world.object_position(uid)
    room = world.scene.room_at(x, y)
    low, _ = world.extent({world.scene.objects[uid].body})
    height = lift_height(float(low[2]))
    eye_level = np.array([x, y, z + 0.05])
    spots = []
    for radius in np.arange(0.25, settings.pick_radius_m + 1e-9, _STEP_M):
        for px, py in _free_ring(world, (x, y), radius, room):
            blocked = not _sees(world, (px, py, height + SHOULDER_M), eye_level)
            spots.append(_Spot(px, py, abs(radius - BEST_DISTANCE_M) + _BLOCKED_COST * blocked))
    return _first_that_fits(world, spots, (x, y), height, f"within {settings.pick_radius_m} m of {uid}")


def stand_before_furniture(world: World, piece: Furniture, settings: NavigationSettings) -> BasePose:
    """A pose in front of a piece of furniture, between stand_min and stand_max from its edge."""
    low, high = world.extent(piece.bodies)
    centre = (low + high) / 2
    height = lift_height(min(float(high[2]), LIFT_RANGE_M[1]))
    room = world.room(piece.room)
    middle = (settings.stand_min_m + settings.stand_max_m) / 2
    spots = []
    for distance in np.arange(settings.stand_min_m, settings.stand_max_m + 1e-9, _STEP_M):
        for px, py, along in _free_outline(world, low, high, distance, room):
            target = np.array([np.clip(px, low[0], high[0]), np.clip(py, low[1], high[1]), high[2] + 0.02])
            blocked = not _sees(world, (px, py, height + SHOULDER_M), target)
            spots.append(_Spot(px, py, abs(distance - middle) + 0.5 * along + _BLOCKED_COST * blocked))
    return _first_that_fits(world, spots, (centre[0], centre[1]), height, f"before {piece.uid}")


def stand_in_room(world: World, room: Room) -> BasePose:
    """A pose at the room's free centre: the free spot nearest to its middle."""
    xs, ys = np.arange(room.x_min, room.x_max, 0.1), np.arange(room.y_min, room.y_max, 0.1)
    px, py = (grid.ravel() for grid in np.meshgrid(xs, ys))
    free = world.free_floor.is_free(px, py)
    distance = np.hypot(px - room.centre[0], py - room.centre[1])
    spots = [_Spot(x, y, d) for x, y, d in zip(px[free], py[free], distance[free], strict=True)]
    return _first_that_fits(world, spots, room.centre, lift_height(0.0), f"in room {room.index}")


def stand_at_anchor(world: World, anchor: Anchor, settings: NavigationSettings) -> BasePose:
    """Where the robot goes when it perceives no instance on the anchor."""
    if anchor.furniture is not None:
        return stand_before_furniture(world, anchor.furniture, settings)
    if anchor.room is None:
        raise GroundingFailure(Reason.FLOOR_WITHOUT_ROOM, "no instance on any floor, and no room was named")
    return stand_in_room(world, anchor.room)


def lift_height(surface_m: float) -> float:
    """The lift's height for a surface's."""
    return float(np.clip(surface_m - BELOW_SURFACE_M, *LIFT_RANGE_M))


def _first_that_fits(
    world: World, spots: list[_Spot], facing: tuple[float, float], height: float, where: str
) -> BasePose:
    """The cheapest spot at which the arm, at home, touches nothing."""
    for spot in sorted(spots, key=lambda s: (round(s.cost, 6), s.x, s.y)):
        yaw = float(np.arctan2(facing[1] - spot.y, facing[0] - spot.x))
        pose = BasePose(float(spot.x), float(spot.y), height, yaw)
        world.collisions.set_world(world.settled_qpos, pose)
        if not world.collisions.hits(HOME, OPEN_M):
            return pose
    raise GroundingFailure(Reason.NO_FREE_POSE, f"no free pose {where} ({len(spots)} spots of free floor tried)")


def _free_ring(world: World, centre: tuple[float, float], radius: float, room: Room | None) -> np.ndarray:
    """Free points (N, 2) on a circle, in the room."""
    angle = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    px, py = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
    free = world.free_floor.is_free(px, py)
    points = np.stack([px[free], py[free]], axis=1)
    return points if room is None else points[[room.contains(x, y) for x, y in points]]


def _free_outline(world: World, low: np.ndarray, high: np.ndarray, distance: float, room: Room) -> np.ndarray:
    """Free points (N, 3) at a distance from a rectangle's sides: x, y, and how far from the side's middle (0..1)."""
    points = []
    for axis in (0, 1):
        other = 1 - axis
        for side in (low[axis] - distance, high[axis] + distance):
            for along in np.linspace(-1.0, 1.0, 9):
                point = np.zeros(2)
                point[axis] = side
                point[other] = (low[other] + high[other]) / 2 + along * (high[other] - low[other]) / 2
                points.append((*point, abs(along)))
    found = np.array(points)
    free = world.free_floor.is_free(found[:, 0], found[:, 1])
    inside = np.array([room.contains(x, y) for x, y, _ in points])
    return found[free & inside]


def _sees(world: World, eye: tuple[float, float, float], target: np.ndarray) -> bool:
    """Whether nothing static stands between the two points."""
    start = np.array(eye)
    way = target - start
    distance = float(np.linalg.norm(way))
    return clear_distance(world.scene, world.settled, start, way / distance, distance) >= distance - 0.02
