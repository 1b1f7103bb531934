"""Ways through a house: the shortest free path from one point to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from sbench_dag.scenes.free_floor import FreeFloor
from sbench_dag.scenes.scene import Room

_CELL_M = 0.10
_CLEAR_M = 0.27  # between the walker's middle and anything
_AROUND_M = 0.40  # and things that lie on the floor


@dataclass(frozen=True)
class Ways:
    """Free points (N, 2), and the graph of neighbours among them."""

    points: np.ndarray
    graph: coo_matrix

    def nearest(self, x: float, y: float) -> int:
        return int(np.argmin(np.hypot(self.points[:, 0] - x, self.points[:, 1] - y)))

    def path(self, start: int, goal: int) -> np.ndarray:
        """Points (M, 2) from start to goal, both included."""
        _, before = dijkstra(self.graph.tocsr(), indices=start, return_predecessors=True)
        steps = [goal]
        while steps[-1] != start and before[steps[-1]] >= 0:
            steps.append(int(before[steps[-1]]))
        return self.points[steps[::-1]]

    def view_of(self, x: float, y: float, room: Room, distance: float = 1.2) -> int:
        """A point in the room about so far from (x, y)."""
        inside = np.array([room.contains(px, py) for px, py in self.points])
        off = np.abs(np.hypot(self.points[:, 0] - x, self.points[:, 1] - y) - distance)
        return int(np.argmin(np.where(inside, np.round(off, 6), np.inf)))

    def within(self, room: Room) -> np.ndarray:
        """Indices of the points in the room, those nearest to its middle first."""
        x, y = room.centre
        away = np.round(np.hypot(self.points[:, 0] - x, self.points[:, 1] - y), 6)
        return np.array([i for i in np.argsort(away, kind="stable") if room.contains(*self.points[i])])


def find_ways(floor: FreeFloor, rooms: tuple[Room, ...], lying: np.ndarray) -> Ways:
    """lying: (K, 2) positions of things on the floor. Only what hangs together is kept."""
    xs = np.arange(0.0, max(room.x_max for room in rooms), _CELL_M)
    ys = np.arange(0.0, max(room.y_max for room in rooms), _CELL_M)
    x, y = np.meshgrid(xs, ys)
    free = floor.is_free(x, y) & (floor.clearance(x, y) >= _CLEAR_M)
    for px, py in lying:
        free &= np.hypot(x - px, y - py) >= _AROUND_M
    number = np.full(free.shape, -1)
    number[free] = np.arange(int(free.sum()))
    first, second, length = [], [], []
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        a, b = _shifted(number, dx, dy)
        both = (a >= 0) & (b >= 0)
        first.append(a[both])
        second.append(b[both])
        length.append(np.full(int(both.sum()), _CELL_M * np.hypot(dx, dy)))
    a, b, w = np.concatenate(first), np.concatenate(second), np.concatenate(length)
    count = int(free.sum())
    graph = coo_matrix((np.tile(w, 2), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(count, count))
    return _largest_part(np.stack([x[free], y[free]], axis=1), graph)


def _shifted(number: np.ndarray, dx: int, dy: int) -> tuple[np.ndarray, np.ndarray]:
    """Every cell and its neighbour at (dx, dy), dx >= 0, as two arrays of one shape."""
    rows, columns = number.shape
    a = number[max(0, -dy) : rows - max(0, dy), : columns - dx]
    b = number[max(0, dy) : rows - max(0, -dy), dx:]
    return a, b


def _largest_part(points: np.ndarray, graph: coo_matrix) -> Ways:
    _, part = connected_components(graph, directed=False)
    keep = np.flatnonzero(part == np.bincount(part).argmax())
    return Ways(points[keep], graph.tocsr()[keep][:, keep].tocoo())
