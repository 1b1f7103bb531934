"""The context phase, frame by frame: where the observer stands, and what is being carried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.scene import Room, Scene
from sbench_dag.synthetic.story import Event, Move, Story
from sbench_dag.synthetic.walk import Ways

FRAME_S = 2.0
BASE_HEIGHT_M = 0.45
_STEP_M = 1.8  # per frame: a walk of 0.9 m/s
_CARRY_FRAMES = (3, 4)
_CARRY_HEIGHT_M = 1.15
_AHEAD = 0.12  # share of the way that a carried thing is ahead of the observer, who follows
_Point = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """One frame. state: how many events are over. carried: uid -> (x, y, z, yaw) of what is in somebody's hands."""

    base: BasePose
    state: int
    carried: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Film:
    """frames, and per event its first and last frame: from the lift to the first frame at rest."""

    frames: tuple[Frame, ...]
    spans: tuple[tuple[int, int], ...]


def shoot(story: Story, scene: Scene, ways: Ways, rng: np.random.Generator) -> Film:
    """The observer walks once through the house, and then is there whenever something is moved."""
    camera = _Camera(scene, ways, rng)
    camera.tour()
    for event in story.events:
        camera.follow(event)
    return Film(tuple(camera.frames), tuple(camera.spans))


class _Camera:
    def __init__(self, scene: Scene, ways: Ways, rng: np.random.Generator):
        self.scene, self.ways = scene, ways
        self.frames: list[Frame] = []
        self.spans: list[tuple[int, int]] = []
        self.state = 0
        rooms = [room for room in scene.rooms if len(ways.within(room))]
        self.rooms = [rooms[i] for i in rng.permutation(len(rooms))]
        self.at = int(ways.within(self.rooms[0])[0])

    def tour(self) -> None:
        """To the middle of every room, the nearest next, looking about in each."""
        left = list(self.rooms)
        while left:
            x, y = self.ways.points[self.at]
            room = min(left, key=lambda r: (round(float(np.hypot(r.centre[0] - x, r.centre[1] - y)), 6), r.index))
            left.remove(room)
            self._walk_to(int(self.ways.within(room)[0]))
            self._look_about(room)

    def follow(self, event: Event) -> None:
        """Walk up to what is going to be moved, and along with it; of two things the first is followed."""
        first = event.moves[0]
        self._walk_to(self._view(first.start.x, first.start.y))
        path = self.ways.path(self.at, self._view(first.end.x, first.end.y))
        count = int(np.clip(round(_length(path) / _STEP_M), *_CARRY_FRAMES))
        start = len(self.frames)
        for j in range(1, count + 1):
            share = j / (count + 1)
            carried = {move.uid: self._in_hand(move, path, share, move is first) for move in event.moves}
            x, y, _, _ = carried[first.uid]
            here = _along(path, max(share - _AHEAD, 0.0))
            self.frames.append(Frame(_facing(here, (x, y), self._yaw), self.state, carried))
        self.state += 1
        self.at = self.ways.nearest(*path[-1])
        self.spans.append((start, len(self.frames)))
        self.frames.append(Frame(_facing(tuple(path[-1]), (first.end.x, first.end.y), self._yaw), self.state))

    @property
    def _yaw(self) -> float:
        return self.frames[-1].base.yaw if self.frames else 0.0

    def _view(self, x: float, y: float) -> int:
        room = self.scene.room_at(x, y) or self.rooms[0]
        return self.ways.view_of(x, y, room)

    def _walk_to(self, goal: int) -> None:
        path = self.ways.path(self.at, goal)
        count = max(1, round(_length(path) / _STEP_M))
        for j in range(1, count + 1):
            here, ahead = _along(path, j / count), _along(path, min(1.0, j / count + 0.1))
            self.frames.append(Frame(_facing(here, ahead, self._yaw), self.state))
        self.at = goal

    def _look_about(self, room: Room) -> None:
        """Towards each corner."""
        x, y = self.ways.points[self.at]
        for cx, cy in (
            (room.x_min, room.y_max),
            (room.x_max, room.y_max),
            (room.x_max, room.y_min),
            (room.x_min, room.y_min),
        ):
            self.frames.append(Frame(_facing((x, y), (cx, cy), self._yaw), self.state))

    def _in_hand(self, move: Move, path: np.ndarray, share: float, walked: bool) -> tuple[float, float, float, float]:
        """On an arc from start to end; what is followed goes the way that the observer goes."""
        start, end = np.array([move.start.x, move.start.y]), np.array([move.end.x, move.end.y])
        way = np.vstack([start, path, end]) if walked else np.vstack([start, end])
        x, y = _along(way, share)
        low = move.start.z + share * (move.end.z - move.start.z)
        z = low + (max(_CARRY_HEIGHT_M, low + 0.2) - low) * np.sin(np.pi * share)
        return x, y, float(z), move.start.yaw + share * (move.end.yaw - move.start.yaw)


def _facing(here: _Point, target: _Point, otherwise: float) -> BasePose:
    dx, dy = target[0] - here[0], target[1] - here[1]
    yaw = float(np.arctan2(dy, dx)) if np.hypot(dx, dy) > 1e-3 else otherwise
    return BasePose(float(here[0]), float(here[1]), BASE_HEIGHT_M, yaw)


def _length(path: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def _along(path: np.ndarray, share: float) -> _Point:
    """The point after a share of the path's length."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = share * lengths[-1]
    return float(np.interp(at, lengths, path[:, 0])), float(np.interp(at, lengths, path[:, 1]))
