"""From a grasp to a path: reach it from above, close, lift, all of it within the arm's reach and free of collisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.grasps import Grasp, grasps
from sbench_dag.robot.kinematics import ArmKinematics
from sbench_dag.robot.robot import BasePose
from sbench_dag.robot.shapes import shape_of
from sbench_dag.scenes.collision import RobotCollisions
from sbench_dag.scenes.world import World

APPROACH_M, LIFT_M = 0.10, 0.12
_WAYPOINTS = 5
_JUMP_MAX_RAD = 0.5  # two neighbouring way-points further apart are two branches of the inverse kinematics
_TRANSIT_CHECKS = 12


@dataclass(frozen=True)
class PickPath:
    """Joint positions (7,) along a pick: from home to above the object, down to the grasp, and up."""

    transit: list[np.ndarray]
    approach: list[np.ndarray]
    lift: list[np.ndarray]
    width_m: float


@dataclass
class PickPlanner:
    """Plans picks of the objects of one world as it is now. `skip`: how many feasible grasps to pass over."""

    world: World
    base: BasePose
    arm: ArmKinematics = field(default_factory=ArmKinematics)

    def plan(self, uid: str, skip: int = 0) -> PickPath | None:
        """The first feasible path to pick up the object, or None."""
        body = self.world.scene.objects[uid].body
        collisions = self.world.collisions
        collisions.set_world(self.world.data.qpos, self.base)
        for path in self._feasible(self._candidates(uid), body, collisions):
            if skip == 0:
                return path
            skip -= 1
        return None

    def _candidates(self, uid: str) -> list[Grasp]:
        data, body = self.world.data, self.world.scene.objects[uid].body
        shape = shape_of(self.world.model, body)
        return grasps(shape, data.xpos[body], data.xmat[body].reshape(3, 3), self.base.yaw)

    def _feasible(self, candidates: list[Grasp], body: int, collisions: RobotCollisions) -> Iterator[PickPath]:
        for grasp in candidates:
            opening = grasp.width_m / 2
            at_grasp = self._solve(grasp, grasp.position, self._facing(grasp.position))
            if at_grasp is None or collisions.hits(at_grasp, 2 * opening):
                continue
            back = self._straight(grasp, at_grasp, -grasp.approach * APPROACH_M)
            if back is None or any(collisions.hits(q, grasp.width_m) for q in back):
                continue
            up = self._straight(grasp, at_grasp, np.array([0.0, 0.0, LIFT_M]))
            if up is None or any(collisions.hits(q, grasp.width_m, ignore=(body,)) for q in up):
                continue
            transit = self._transit(back[-1], grasp.width_m, collisions)
            if transit is not None:
                yield PickPath(transit, [*back[-2::-1], at_grasp], up, grasp.width_m)

    def _transit(self, goal: np.ndarray, width_m: float, collisions: RobotCollisions) -> list[np.ndarray] | None:
        """From home straight in joint space, or by way of turning towards the object first."""
        turned = HOME.copy()
        turned[0] = goal[0]
        for stops in ([goal], [turned, goal]):
            start, free = HOME, True
            for stop in stops:
                for share in np.linspace(0.0, 1.0, _TRANSIT_CHECKS + 1)[1:]:
                    free = free and not collisions.hits(start + (stop - start) * share, width_m)
                start = stop
            if free:
                return stops
        return None

    def _straight(self, grasp: Grasp, start: np.ndarray, way: np.ndarray) -> list[np.ndarray] | None:
        """Way-points along a straight line from the grasp, its own pose left out."""
        path, q = [], start
        for share in np.linspace(0.0, 1.0, _WAYPOINTS + 1)[1:]:
            solved = self._solve(grasp, grasp.position + way * share, q)
            if solved is None or np.abs(solved - q).max() > _JUMP_MAX_RAD:
                return None
            path.append(solved)
            q = solved
        return path

    def _solve(self, grasp: Grasp, position: np.ndarray, start: np.ndarray) -> np.ndarray | None:
        base_from_world = self.base.rotation.T
        return self.arm.inverse(
            base_from_world @ (position - self.base.position), base_from_world @ grasp.rotation, start
        )

    def _facing(self, position: np.ndarray) -> np.ndarray:
        """Home, turned towards a point."""
        x, y, _ = self.base.rotation.T @ (position - self.base.position)
        q = HOME.copy()
        q[0] = np.clip(np.arctan2(y, x), -2.5, 2.5)
        return q
