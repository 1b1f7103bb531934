"""Paths keep to the free floor, are as short as it allows, and say where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.reports.free_path import FINE_M, DrivenPath, FloorGrid

START, GOAL = (0.53, 1.0), (3.47, 1.0)


def floor(*obstacles: tuple[float, float, float, float]) -> np.ndarray:
    """4 x 2 m of free floor, but for boxes of x_min, y_min, x_max, y_max."""
    free = np.ones((101, 201), dtype=bool)
    for box in obstacles:
        x_min, y_min, x_max, y_max = (round(value / FINE_M) for value in box)
        free[y_min : y_max + 1, x_min : x_max + 1] = False
    return free


def is_free_all_the_way(free: np.ndarray, path: DrivenPath) -> bool:
    for first, second in zip(path.points, path.points[1:], strict=False):
        between = first + np.linspace(0, 1, 400)[:, None] * (second - first)
        column, row = np.rint(between / FINE_M).astype(int).T
        if not free[row, column].all():
            return False
    return True


def test_on_free_floor_the_path_is_straight():
    path = FloorGrid(floor(), (0.0, 0.0)).paths([(START, GOAL)])[START, GOAL]
    assert path.is_free
    assert path.length_m == pytest.approx(2.94)
    assert len(path.points) == 2


def test_a_wall_is_driven_round_by_the_shorter_side():
    free = floor((1.9, 0.5, 2.1, 2.0))
    path = FloorGrid(free, (0.0, 0.0)).paths([(START, GOAL)])[START, GOAL]
    assert path.is_free and is_free_all_the_way(free, path)
    shortest = 2 * np.hypot(1.9 - START[0], 0.5) + 0.2
    assert shortest <= path.length_m <= 1.05 * shortest
    assert path.points[:, 1].min() < 0.5


def test_a_path_does_not_cut_a_corner():
    free = floor((0.0, 0.9, 1.0, 1.1), (1.2, 0.9, 4.0, 1.1))
    below, above = (0.2, 0.4), (3.8, 1.8)
    path = FloorGrid(free, (0.0, 0.0)).paths([(below, above)])[below, above]
    assert path.is_free and is_free_all_the_way(free, path)


def test_where_no_path_leads_the_line_is_straight_and_says_so():
    grid = FloorGrid(floor((1.9, 0.0, 2.1, 2.0)), (0.0, 0.0))
    path = grid.paths([(START, GOAL)])[START, GOAL]
    assert not path.is_free
    assert path.points.tolist() == [list(START), list(GOAL)]


@pytest.mark.parametrize("start", [(2.0, 1.0), (-3.0, 1.0), (9.0, 9.0)], ids=["obstacle", "outside", "far"])
def test_a_start_that_is_not_on_free_floor_has_no_path(start: tuple[float, float]):
    grid = FloorGrid(floor((1.8, 0.8, 2.2, 1.2)), (0.0, 0.0))
    assert not grid.paths([(start, GOAL)])[start, GOAL].is_free


def test_a_house_without_any_free_floor_has_no_path():
    grid = FloorGrid(np.zeros((101, 201), dtype=bool), (0.0, 0.0))
    assert not grid.paths([(START, GOAL)])[START, GOAL].is_free
    assert grid.paths([]) == {}


def test_going_nowhere_is_a_path_of_no_length():
    path = FloorGrid(floor(), (0.0, 0.0)).paths([(START, START)])[START, START]
    assert path.is_free and path.length_m == 0.0


def test_legs_from_several_places_are_found_together():
    free = floor((1.9, 0.5, 2.1, 2.0))
    legs = [(START, GOAL), (GOAL, START), (START, (0.5, 1.9))]
    paths = FloorGrid(free, (0.0, 0.0)).paths(legs)
    assert list(paths) == legs
    assert all(path.is_free for path in paths.values())
    assert paths[legs[0]].length_m == pytest.approx(paths[legs[1]].length_m, rel=0.05)
