"""Whether the robot, somewhere else than it is, would touch anything."""

from __future__ import annotations

import copy
from collections.abc import Collection

import mujoco
import numpy as np

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.scene import Scene

TOUCHING_M = -2e-4  # penetration from which on two geoms count as in collision
_ROBOT, _OTHER = 1, 2


class RobotCollisions:
    """A scratch copy of the scene in which only pairs of the robot and something else collide.

    The rest of a settled house has a hundred contacts of its own: leaving them out makes a check several times
    faster. Collisions of the robot with itself are left to the joint limits.
    """

    def __init__(self, scene: Scene):
        self.scene = scene
        self.model = copy.copy(scene.model)
        mine = scene.robot.bodies[self.model.geom_bodyid]
        collides = (self.model.geom_contype != 0) | (self.model.geom_conaffinity != 0)
        self.model.geom_contype[:] = np.where(collides, np.where(mine, _ROBOT, _OTHER), 0)
        self.model.geom_conaffinity[:] = np.where(collides, np.where(mine, _OTHER, _ROBOT), 0)
        self._mine = mine
        self._data = mujoco.MjData(self.model)

    def set_world(self, qpos: np.ndarray, base: BasePose) -> None:
        """The world to check against: all bodies as in `qpos`, the robot's base at `base`."""
        self._data.qpos[:] = qpos
        self.scene.robot.place_base(self._data, base)

    def hits(self, arm_qpos: np.ndarray, width_m: float, ignore: Collection[int] = ()) -> bool:
        """Whether arm or gripper would penetrate anything but the bodies in `ignore`."""
        data, robot = self._data, self.scene.robot
        data.qpos[robot.arm_qpos] = arm_qpos
        data.qpos[robot.finger_qpos] = width_m / 2
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_collision(self.model, data)
        contact = data.contact
        for (first, second), distance in zip(contact.geom, contact.dist, strict=True):
            other = second if self._mine[first] else first
            if distance < TOUCHING_M and int(self.model.geom_bodyid[other]) not in ignore:
                return True
        return False
