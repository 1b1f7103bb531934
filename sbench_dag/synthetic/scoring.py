"""The rule that says what a query asks for: that its objects are lifted, or only that the robot gets to them.

An object is `lifted` if all of this holds, and `reached_only` otherwise; nothing is tried out in simulation:

* its category is one that fingers which open 80 mm hold,
* nothing is within 0.60 m above a disc of 0.12 m around it, and nothing static beside it at the height of a hand,
* it is not inside another thing, and its neighbours leave the gap that a hand needs (0.085 m between the circles
  around them, 0.125 m where one of the two is tall),
* there are places to stand within 0.60 m of it, on free floor of the same room, from which nothing static hides it.

Both need a place to stand within 0.65 m; an object without one is not asked for at all.
"""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from sbench_dag.dataset.eval_spec import Scoring
from sbench_dag.scenes.free_floor import FreeFloor
from sbench_dag.scenes.houses.resting import Arrangement, gap, hand_gap
from sbench_dag.scenes.placing import clear_distance
from sbench_dag.scenes.scene import Scene

FREE_ABOVE_M = 0.60
AROUND_M = 0.12
STAND_M, STAND_FAR_M = 0.60, 0.65
_HAND_ABOVE_M = 0.06  # over an object's top, where the palm is
_STANDS_MIN = 4  # a spot or two may be taken by what the arm would touch
_SHOULDER_M = 0.20  # of the arm above the surface that it works on
_DIRECTIONS = np.linspace(0, 2 * np.pi, 32, endpoint=False)


class Rule:
    """Judges the things of one arrangement; `data` has them exactly where they were put."""

    def __init__(self, scene: Scene, data: mujoco.MjData, floor: FreeFloor, arrangement: Arrangement):
        self.scene, self.data, self.floor, self.arrangement = scene, data, floor, arrangement

    def judge(self, uid: str) -> Scoring | None:
        """None: there is nowhere to stand."""
        if len(self._stands(uid, STAND_FAR_M)) < _STANDS_MIN:
            return None
        liftable = (
            self.arrangement.things[uid].graspable
            and self._uncrowded(uid)
            and self._free_above(uid)
            and self._free_beside(uid)
            and self._seen_from_stands(uid)
        )
        return Scoring.LIFTED if liftable else Scoring.REACHED_ONLY

    def _uncrowded(self, uid: str) -> bool:
        place, thing = self.arrangement.places[uid], self.arrangement.things[uid]
        if place.inside or self.arrangement.contents(uid):
            return False
        others = ((self.arrangement.things[other], at) for other, at in self.arrangement.places.items() if other != uid)
        return all(
            gap(thing, place.x, place.y, other, at) >= hand_gap(thing, other) - 1e-6
            for other, at in others
            if abs(at.z - place.z) < 0.45
        )

    def _free_above(self, uid: str) -> bool:
        x, y, top = self._top(uid)
        disc = [(0.0, 0.0), *((AROUND_M * np.cos(a), AROUND_M * np.sin(a)) for a in _DIRECTIONS[::4])]
        starts = (np.array([x + dx, y + dy, top + 0.01]) for dx, dy in disc)
        return self._all_clear(starts, np.array([0.0, 0.0, 1.0]), FREE_ABOVE_M)

    def _free_beside(self, uid: str) -> bool:
        x, y, top = self._top(uid)
        reach = self.arrangement.things[uid].radius + 0.06
        centre = np.array([x, y, top + _HAND_ABOVE_M])
        return all(self._all_clear([centre], np.array([np.cos(a), np.sin(a), 0.0]), reach) for a in _DIRECTIONS[::2])

    def _seen_from_stands(self, uid: str) -> bool:
        x, y, top = self._top(uid)
        target = np.array([x, y, top + 0.02])
        bottom = top - self.arrangement.things[uid].height
        seen = 0
        for px, py in self._stands(uid, STAND_M):
            eye = np.array([px, py, bottom + _SHOULDER_M])
            way = target - eye
            distance = float(np.linalg.norm(way))
            seen += self._all_clear([eye], way / distance, distance - 0.02)
        return seen >= _STANDS_MIN

    def _stands(self, uid: str, reach: float) -> np.ndarray:
        """Free points (N, 2) around it."""
        place = self.arrangement.places[uid]
        room = next(room for room in self.scene.rooms if room.index == place.room)
        radius = np.array([reach - 0.20, reach - 0.15, reach - 0.10, reach - 0.05, reach])[:, None]
        x, y = place.x + radius * np.cos(_DIRECTIONS), place.y + radius * np.sin(_DIRECTIONS)
        inside = (x > room.x_min) & (x < room.x_max) & (y > room.y_min) & (y < room.y_max)
        free = inside & self.floor.is_free(x, y)
        return np.stack([x[free], y[free]], axis=1)

    def _top(self, uid: str) -> tuple[float, float, float]:
        place = self.arrangement.places[uid]
        return place.x, place.y, place.z + self.arrangement.things[uid].height / 2

    def _all_clear(self, starts: Iterable[np.ndarray], direction: np.ndarray, distance: float) -> bool:
        return all(clear_distance(self.scene, self.data, start, direction, distance) >= distance for start in starts)
