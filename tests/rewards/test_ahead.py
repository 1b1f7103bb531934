"""Work done ahead stays in order and does not run away."""

from __future__ import annotations

import threading

import pytest

from sbench_dag.rewards.ahead import map_ahead


def test_results_come_in_order_and_no_more_are_made_than_asked():
    made, drawn = [], []

    def items():
        for number in range(20):
            drawn.append(number)
            yield number

    def make(number: int) -> int:
        made.append(number)
        return 10 * number

    results = map_ahead(make, items(), threads=3, ahead=4)
    assert next(results) == 0
    assert drawn == [0, 1, 2, 3]
    assert list(results) == [10 * number for number in range(1, 20)]
    assert sorted(made) == list(range(20))


def test_items_are_made_side_by_side():
    together = threading.Barrier(3, timeout=30)
    assert list(map_ahead(lambda _: together.wait() >= 0, range(3), threads=3, ahead=3)) == [True] * 3


def test_a_failure_is_raised_in_its_place():
    results = map_ahead(lambda number: 1 // number, [1, 0, 1], threads=2, ahead=3)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
