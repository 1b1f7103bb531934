"""An episode's world: its scene, restored to the end state and settled, and reset for one plan after another."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from sbench_dag.dataset.dataset import Episode
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.collision import RobotCollisions
from sbench_dag.scenes.free_floor import FreeFloor, free_floor
from sbench_dag.scenes.geometry import body_geoms, geom_corners
from sbench_dag.scenes.placing import place_robot
from sbench_dag.scenes.render import Camera
from sbench_dag.scenes.scene import Room, Scene, SceneSource
from sbench_dag.scenes.support import Support, support_map

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True)
class Restored:
    """Which tracked bodies the end state and the scene have in common."""

    matched: tuple[str, ...]
    expected: int

    @property
    def match_ratio(self) -> float:
        return len(self.matched) / self.expected


class World:
    """Built once per episode and worker. Plans never see what an earlier plan did: each starts with `reset`."""

    def __init__(self, source: SceneSource, episode: Episode, settle_s: float):
        self.episode = episode
        self.scene: Scene = source.build(episode.meta)
        self.model = self.scene.model
        self.data = mujoco.MjData(self.model)
        self.base = self.recorded_base
        self.restored = self._restore()
        for _ in range(round(settle_s / self.model.opt.timestep)):
            mujoco.mj_step(self.model, self.data)
        self.settled_qpos = self.data.qpos.copy()
        self._checkpoint = self._state()
        self.settled = mujoco.MjData(self.model)  # never stepped: what perception and planning look at
        self.settled.qpos[:] = self.settled_qpos
        place_robot(self.scene, self.settled, self.recorded_base)
        self._cameras: dict[tuple[str, int, int], Camera] = {}

    def reset(self, base: BasePose) -> str:
        """The settled end state with the robot at `base`, arm at home; returns the state's hash.

        Resetting before setting makes the state canonical: what slept in an earlier rollout leaves no trace, and
        the same plan gives the same states bit for bit.
        """
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, self._checkpoint, _STATE)
        self.data.time = 0.0
        self.move_base(base)
        return self.state_hash()

    def move_base(self, base: BasePose) -> None:
        """Teleport the robot within the running simulation; the arm starts from home."""
        self.base = base
        place_robot(self.scene, self.data, base)

    def state_hash(self) -> str:
        return hashlib.sha256(self._state().tobytes()).hexdigest()[:16]

    @property
    def recorded_base(self) -> BasePose:
        """Where the robot stood when the episode ended."""
        state = self.episode.end_state
        return BasePose.from_arrays(state.base_position, state.base_quat_wxyz)

    @cached_property
    def supports(self) -> dict[str, Support | None]:
        """What each object rests on in the settled end state."""
        return support_map(self.scene, self.settled)

    @cached_property
    def free_floor(self) -> FreeFloor:
        return free_floor(self.scene, self.settled)

    @cached_property
    def collisions(self) -> RobotCollisions:
        return RobotCollisions(self.scene)

    @cached_property
    def room_index(self) -> dict[str, int]:
        """The inverse of the episode's room_name_map: name -> index."""
        return {name: index for index, name in self.episode.eval_spec.room_names.items()}

    def room(self, index: int) -> Room:
        return next(room for room in self.scene.rooms if room.index == index)

    def object_position(self, uid: str) -> np.ndarray:
        """Where an object lies in the settled end state, (3,) metres."""
        start = self.scene.objects[uid].qpos
        return self.settled_qpos[start : start + 3]

    def extent(self, bodies: Collection[int]) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest corner (3,) of the box that holds the bodies in the settled end state."""
        corners = [geom_corners(self.model, self.settled, geom) for geom in body_geoms(self.model, bodies)]
        everything = np.concatenate(corners)
        return everything.min(axis=0), everything.max(axis=0)

    def camera(self, name: str, width: int, height: int) -> Camera:
        key = (name, width, height)
        if key not in self._cameras:
            self._cameras[key] = Camera(self.model, *key)
        return self._cameras[key]

    def _restore(self) -> Restored:
        """Puts every body that end state and scene share where it was; the others stay where the scene has them."""
        state = self.episode.end_state
        tracked = self.episode.meta.tracked
        matched = []
        for i, name in enumerate(state.bodies.names):
            if name not in self.scene.objects:
                continue
            start = self.scene.objects[name].qpos
            self.data.qpos[start : start + 3] = state.bodies.position[i]
            self.data.qpos[start + 3 : start + 7] = state.bodies.quat_wxyz[i]
            matched.append(name)
        place_robot(self.scene, self.data, self.base)
        return Restored(tuple(matched), len(set(tracked) | set(state.bodies.names)))

    def _state(self) -> np.ndarray:
        state = np.zeros(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self.data, state, _STATE)
        return state
