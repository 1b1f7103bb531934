"""What the observer sees: within the camera's field of view, near enough, and not hidden."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.scene import Scene

EYE_HEIGHT_M = 1.3
HALF_FIELD_RAD = np.deg2rad(45.0)
PITCH_RAD = np.deg2rad(-15.0)
RANGE_M = 6.0
SMALLEST_RAD = 0.011  # half the angle under which the smallest thing is still recognised
_POINTS = 6
_SEEN_SHARE = 0.4


@dataclass(frozen=True)
class _Target:
    """Points to look for on a thing: the middles of some of its geoms."""

    uid: str
    body: int
    geoms: tuple[int, ...]
    radius: float


class Eyes:
    """Looks at states of one scene."""

    def __init__(self, scene: Scene):
        self.scene = scene
        self.targets = [_target(scene, uid) for uid in sorted(scene.objects)]

    def seen(self, data: mujoco.MjData, base: BasePose) -> frozenset[str]:
        """Uids of the things that a head camera over the base sees. `data`: after mj_kinematics."""
        eye = np.array([base.x, base.y, EYE_HEIGHT_M])
        looked = [(t, data.geom_xpos[list(t.geoms)] - eye) for t in self.targets]
        found = [(t, ways[_in_view(ways, base.yaw)]) for t, ways in looked if _near_enough(t, ways)]
        found = [(t, ways) for t, ways in found if len(ways)]
        if not found:
            return frozenset()
        hits = self._first_hit(data, eye, np.concatenate([ways for _, ways in found]))
        seen, at = set(), 0
        for target, ways in found:
            mine = np.count_nonzero(hits[at : at + len(ways)] == target.body)
            at += len(ways)
            if mine >= _SEEN_SHARE * len(target.geoms):
                seen.add(target.uid)
        return frozenset(seen)

    def _first_hit(self, data: mujoco.MjData, eye: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """Per ray (N, 3) the body that it meets first."""
        count = len(ways)
        unit = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        geom, distance = np.full(count, -1, dtype=np.int32), np.zeros(count)
        mujoco.mj_multiRay(
            self.scene.model, data, eye, unit.ravel(), None, 1, -1, geom, distance, None, count, RANGE_M + 1.0
        )
        return np.where(geom >= 0, self.scene.model.geom_bodyid[geom], -1)


def _target(scene: Scene, uid: str) -> _Target:
    model, body = scene.model, scene.objects[uid].body
    solid = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body and model.geom_contype[g]]
    chosen = sorted({solid[i] for i in np.linspace(0, len(solid) - 1, _POINTS).round().astype(int)})
    reach = [np.linalg.norm(model.geom_pos[g]) + 0.5 * model.geom_rbound[g] for g in solid]
    return _Target(uid, body, tuple(chosen), float(max(reach)))


def _near_enough(target: _Target, ways: np.ndarray) -> bool:
    distance = float(np.linalg.norm(ways, axis=1).mean())
    return distance < RANGE_M and target.radius / distance > SMALLEST_RAD


def _in_view(ways: np.ndarray, yaw: float) -> np.ndarray:
    """Which directions (N, 3) lie in a square field of view, that looks along yaw and a little down."""
    c, s = np.cos(yaw), np.sin(yaw)
    ahead, left, up = c * ways[:, 0] + s * ways[:, 1], c * ways[:, 1] - s * ways[:, 0], ways[:, 2]
    cp, sp = np.cos(PITCH_RAD), np.sin(PITCH_RAD)
    depth, height = cp * ahead + sp * up, cp * up - sp * ahead
    most = np.tan(HALF_FIELD_RAD) * depth
    return (depth > 0) & (np.abs(left) <= most) & (np.abs(height) <= most)
