"""A built scene: the compiled model with the robot in it, and an inventory of what stands where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import mujoco

from sbench_dag.dataset.dataset import Episode
from sbench_dag.dataset.episode import EpisodeMeta, SceneFingerprint
from sbench_dag.robot.robot import Robot


@dataclass(frozen=True)
class Room:
    """A rectangular room; `room_<index>` to the simulator. Bounds in metres in the world."""

    index: int
    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def contains(self, x: float, y: float) -> bool:
        return self.x_min <= x <= self.x_max and self.y_min <= y <= self.y_max

    @property
    def centre(self) -> tuple[float, float]:
        return (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture. An object rests on it if it rests on any geom of any of its bodies.

    name: what an answer calls it ("dining table"); several pieces of a house can share it.
    """

    uid: str
    name: str
    room: int
    bodies: frozenset[int]


@dataclass(frozen=True)
class SceneObject:
    """A free body. names: its category first, then what else a query may call it."""

    uid: str
    names: tuple[str, ...]
    body: int
    qpos: int
    dof: int

    @property
    def category(self) -> str:
        return self.names[0]


@dataclass(frozen=True)
class Scene:
    """What a scene source builds. `floors`: ids of the geoms that are floor."""

    model: mujoco.MjModel
    robot: Robot
    rooms: tuple[Room, ...]
    furniture: tuple[Furniture, ...]
    objects: Mapping[str, SceneObject]
    floors: frozenset[int]
    fingerprint: SceneFingerprint

    def room_at(self, x: float, y: float) -> Room | None:
        return next((room for room in self.rooms if room.contains(x, y)), None)


class SceneSource(Protocol):
    """Where scenes come from. `version` names the source's code and own assets: it is part of every fingerprint."""

    version: str

    def build(self, meta: EpisodeMeta) -> Scene:
        """The scene that the episode was recorded in, with the robot added. Deterministic.

        Raises:
            InputError: the episode's description of its scene is wrong.
        """
        ...

    def content(self, episode: Episode) -> str:
        """Hash of the files that the episode's scene is made of; "" if its version covers them.

        What is missing or wrong is no error here, it counts as missing. A source may remember what it has seen: open
        another one to look again.
        """
        ...
