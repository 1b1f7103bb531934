"""Shards are whole groups of about equal expected time, and no stratum of its own."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from sbench_dag.cluster.shards import make_shards
from sbench_dag.work.item import Task, WorkItem

COST = 12.0


def group(name: str, count: int, cost: float = COST) -> list[Task]:
    return [Task(WorkItem(f"{name}.q{i:02}", name, cost), "f") for i in range(count)]


def reference() -> list[Task]:
    """44 episodes of 20 to 50 plans, in the order of their keys."""
    draw = random.Random(0)
    return list(itertools.chain(*(group(f"house_{i:02}", draw.randint(20, 50)) for i in range(44))))


def load(tasks: list[Task]) -> float:
    return sum(task.item.cost for task in tasks)


def groups_of(shard: list[Task]) -> set[str]:
    return {task.item.group for task in shard}


def as_sets(shards: list[list[Task]]) -> set[frozenset[str]]:
    return {frozenset(task.item.key for task in shard) for shard in shards}


@pytest.mark.parametrize("shard_s", [60.0, 600.0, 1200.0, 1e9])
@pytest.mark.parametrize("most", [1, 7, 1000])
def test_every_task_is_in_one_shard_and_there_are_not_too_many(shard_s: float, most: int):
    tasks = reference()
    shards = make_shards(tasks, shard_s, most)
    assert sorted(task.item.key for shard in shards for task in shard) == sorted(task.item.key for task in tasks)
    assert len(shards) == min(math.ceil(load(tasks) / shard_s), most)
    assert all(shards), "none is empty"


def test_groups_that_fit_into_a_shard_stay_whole():
    shards = make_shards(reference(), 1200.0, 1000)
    assert sum(len(groups_of(shard)) for shard in shards) == 44


@pytest.mark.parametrize(("shard_s", "most"), [(1200.0, 1000), (600.0, 10), (60.0, 8)])
def test_shards_are_balanced(shard_s: float, most: int):
    tasks = reference()
    shards = make_shards(tasks, shard_s, most)
    longest_group = max(load(list(g)) for _, g in itertools.groupby(tasks, key=lambda task: task.item.group))
    mean = load(tasks) / len(shards)
    assert max(map(load, shards)) <= 1.1 * mean + min(longest_group, max(shard_s, mean))


def test_a_few_large_shards_are_within_a_tenth_of_their_mean():
    tasks = reference()
    shards = make_shards(tasks, load(tasks) / 8, 1000)
    assert max(map(load, shards)) <= 1.1 * load(tasks) / len(shards)


@pytest.mark.parametrize(("count", "parts"), [(10, 1), (11, 2), (20, 2), (25, 3)])
def test_a_group_longer_than_a_shard_is_split_into_as_few_parts_as_will_do(count: int, parts: int):
    shards = make_shards(group("a", count), 10 * COST, 1000)
    assert len(shards) == parts
    sizes = sorted(map(len, shards))
    assert sizes[-1] - sizes[0] <= 1, "of about equal length"
    assert all(shard == sorted(shard, key=lambda task: task.item.key) for shard in shards)


def test_where_shards_must_be_longer_groups_are_split_less():
    """A site's limit on arrays makes shards longer than was asked for."""
    tasks = [*group("a", 30), *group("b", 30)]
    assert {len(groups_of(shard)) for shard in make_shards(tasks, COST, 2)} == {1}


def test_tasks_longer_than_a_shard_have_one_each():
    shards = make_shards(group("a", 3, cost=1000.0), 60.0, 1000)
    assert [len(shard) for shard in shards] == [1, 1, 1]


def test_tasks_of_different_cost_are_all_there():
    tasks = [Task(WorkItem(f"q{i}", "a", cost), "f") for i, cost in enumerate([1000.0, 1.0, 1.0, 500.0, 0.0])]
    shards = make_shards(tasks, 100.0, 1000)
    assert sorted(task.item.key for shard in shards for task in shard) == [f"q{i}" for i in range(5)]


@pytest.mark.parametrize("shard_s", [60.0, 300.0, 1200.0])
def test_the_order_of_the_tasks_does_not_matter(shard_s: float):
    tasks = reference()
    shuffled = random.Random(1).sample(tasks, len(tasks))
    shards = make_shards(tasks, shard_s, 100)
    assert shards == make_shards(tasks, shard_s, 100)
    assert as_sets(shards) == as_sets(make_shards(shuffled, shard_s, 100))


def test_within_a_shard_tasks_keep_their_order():
    tasks = reference()
    order = {task.item.key: number for number, task in enumerate(tasks)}
    for shard in make_shards(tasks, 1200.0, 1000):
        numbers = [order[task.item.key] for task in shard]
        assert numbers == sorted(numbers)


def test_neighbours_are_not_all_in_one_shard():
    tasks = list(itertools.chain(*(group(f"house_{i:02}", 30) for i in range(44))))
    shards = make_shards(tasks, 4 * 30 * COST, 1000)
    assert len(shards) == 11
    runs = [{f"house_{i + k:02}" for k in range(4)} for i in range(0, 44, 4)]
    assert not any(groups_of(shard) in runs for shard in shards)
    assert len({groups_of(shard) == set() for shard in shards}) == 1
    neighbours = sum(
        f"house_{int(name[-2:]) + 1:02}" in groups_of(shard) for shard in shards for name in groups_of(shard)
    )
    assert neighbours <= 11, "of 43 pairs of neighbours; in key order it would be 33"


@pytest.mark.parametrize("count", [1, 5])
def test_tasks_that_cost_nothing_are_run_too(count: int):
    tasks = [*group("a", count, cost=0.0), *group("b", count, cost=0.0)]
    assert as_sets(make_shards(tasks, 60.0, 10)) == {frozenset(task.item.key for task in tasks)}


def test_no_tasks_make_no_shards():
    assert make_shards([], 60.0, 10) == []
