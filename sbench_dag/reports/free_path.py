"""How far the robot would have to drive: shortest free paths of its base over the floor of a house.

The harness teleports the base. These paths are for people who look at a plan; no result depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from sbench_dag.scenes.free_floor import FreeFloor

GRID_M, FINE_M = 0.10, 0.02
_STEP = round(GRID_M / FINE_M)
_REACH_M = 0.15  # from a pose to the cells around it
_SAME_M = 1e-6

Point = tuple[float, float]
Leg = tuple[Point, Point]
"""From, to."""


@dataclass(frozen=True)
class DrivenPath:
    """points (N, 2) in metres, from start to goal. is_free: False of a straight line where no free path was found."""

    points: np.ndarray
    is_free: bool

    @property
    def length_m(self) -> float:
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())


def free_map(floor: FreeFloor, bounds: tuple[float, float, float, float]) -> np.ndarray:
    """(rows, columns) bool: whether the base fits, every FINE_M from x_min, y_min on. bounds: and x_max, y_max."""
    x_min, y_min, x_max, y_max = bounds
    x, y = np.meshgrid(np.arange(x_min, x_max + FINE_M / 2, FINE_M), np.arange(y_min, y_max + FINE_M / 2, FINE_M))
    return floor.is_free(x, y)


class FloorGrid:
    """The free floor as a graph: cells of GRID_M with their eight neighbours."""

    def __init__(self, free: np.ndarray, origin: Point):
        """free: as `free_map` gives it. origin: (x, y) of free[0, 0], metres."""
        self._padded, self._origin = np.pad(free, 1), np.array(origin)
        self._last = np.array(free.shape[::-1]) + 1
        coarse = free[::_STEP, ::_STEP]
        rows, columns = np.nonzero(coarse)
        self._cells = np.stack([columns, rows], axis=1) * GRID_M + self._origin
        self._edges, self._lengths = self._clear_pairs(_neighbours(coarse), self._cells)

    def paths(self, legs: Sequence[Leg]) -> dict[Leg, DrivenPath]:
        """The path of each leg. All legs that begin at one place cost one search."""
        if not legs:
            return {}
        ends = list(dict.fromkeys(point for leg in legs for point in leg))
        starts = list(dict.fromkeys(start for start, _ in legs))
        number = {point: len(self._cells) + i for i, point in enumerate(ends)}
        nodes = np.concatenate([self._cells, np.array(ends)])
        searches = [number[start] for start in starts]
        _, before = dijkstra(self._graph(nodes), directed=False, indices=searches, return_predecessors=True)
        row = dict(zip(starts, before, strict=True))
        return {leg: self._path(nodes, row[leg[0]], number[leg[0]], number[leg[1]]) for leg in legs}

    def _graph(self, nodes: np.ndarray) -> coo_array:
        """The cells and, after them in `nodes`, the ends of legs, each tied to the free cells around it."""
        count = len(self._cells)
        pairs, lengths = [self._edges], [self._lengths]
        for end in range(count, len(nodes)):
            near = np.flatnonzero(np.abs(self._cells - nodes[end]).max(axis=1) <= _REACH_M)
            tied, length = self._clear_pairs(np.stack([near, np.full(len(near), end)], axis=1), nodes)
            pairs.append(tied)
            lengths.append(np.maximum(length, 1e-9))  # an edge of length 0 would be none
        first, second = np.concatenate(pairs).T
        return coo_array((np.concatenate(lengths), (first, second)), shape=(len(nodes), len(nodes)))

    def _clear_pairs(self, pairs: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of the pairs (E, 2) of near nodes with free floor all the way between them, and their distances."""
        first, second = nodes[pairs[:, 0]], nodes[pairs[:, 1]]
        share = np.linspace(0, 1, round(2 * _REACH_M / FINE_M))[:, None, None]
        clear = self._is_free(first + share * (second - first)).all(axis=0)
        return pairs[clear], np.linalg.norm(second - first, axis=1)[clear]

    def _path(self, nodes: np.ndarray, before: np.ndarray, start: int, goal: int) -> DrivenPath:
        if start == goal:
            return DrivenPath(nodes[[start, goal]], is_free=True)
        way = [goal]
        while way[-1] != start:
            last = int(before[way[-1]])
            if last < 0:
                return DrivenPath(nodes[[start, goal]], is_free=False)
            way.append(last)
        return DrivenPath(self._pulled_tight(nodes[way[::-1]]), is_free=True)

    def _pulled_tight(self, points: np.ndarray) -> np.ndarray:
        """Without the corners that only the grid has: from each point straight on as far as the floor is free."""
        step = np.diff(points, axis=0)
        turns = np.abs(np.diff(step, axis=0)).max(axis=1, initial=0.0) > _SAME_M
        points = points[np.concatenate([[True], turns, [True]])]
        kept, at, last = [0], 0, len(points) - 1
        while at < last:
            near, far = at + 1, last
            while near < far:  # by halves: not always the farthest, but few looks
                middle = (near + far + 1) // 2
                near, far = (middle, far) if self._is_clear(points[at], points[middle]) else (near, middle - 1)
            at = near
            kept.append(at)
        return points[kept]

    def _is_clear(self, first: np.ndarray, second: np.ndarray) -> bool:
        steps = 2 + int(np.hypot(*(second - first)) / FINE_M)
        return bool(self._is_free(first + np.linspace(0, 1, steps)[:, None] * (second - first)).all())

    def _is_free(self, points: np.ndarray) -> np.ndarray:
        """(...) of points (..., 2). Outside of the map nothing is free."""
        cells = np.rint((points - self._origin) / FINE_M).astype(int) + 1
        column, row = np.minimum(np.maximum(cells, 0), self._last).reshape(-1, 2).T
        return self._padded[row, column].reshape(points.shape[:-1])


def _neighbours(free: np.ndarray) -> np.ndarray:
    """(E, 2) pairs of the numbers of free cells that touch, also at a corner. Cells are numbered row by row."""
    number = np.full(free.shape, -1)
    number[free] = np.arange(np.count_nonzero(free))
    ways = (
        (number[:, :-1], number[:, 1:]),
        (number[:-1, :], number[1:, :]),
        (number[:-1, :-1], number[1:, 1:]),
        (number[:-1, 1:], number[1:, :-1]),
    )
    return np.concatenate([np.stack([a[both], b[both]], axis=1) for a, b in ways for both in [(a >= 0) & (b >= 0)]])
