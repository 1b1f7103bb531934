"""Which tasks run together: whole groups, so that what they share is built once, in shards of equal expected time."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence

from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.item import Task


def make_shards(tasks: Sequence[Task], shard_s: float, most: int) -> list[list[Task]]:
    """Splits tasks into at most `most` shards of about `shard_s` expected seconds each; every task in one of them.

    A group is split only if it is longer than a shard. Which groups come together has nothing to do with their order:
    with neighbours in one shard, a lost shard would be a lost stratum.
    """
    if not tasks:
        return []
    total = sum(task.item.cost for task in tasks)
    count = min(max(math.ceil(total / shard_s), 1), most)
    limit = max(shard_s, total / count)
    by_group = sorted(tasks, key=lambda task: (task.item.group, task.item.key))
    groups = itertools.groupby(by_group, key=lambda task: task.item.group)
    pieces = [piece for _, group in groups for piece in _pieces(list(group), limit)]
    pieces.sort(key=lambda piece: (-_cost(piece), fingerprint([task.item.key for task in piece])))
    shards: list[list[Task]] = [[] for _ in range(min(count, len(pieces)))]
    loads = [(0.0, index) for index in range(len(shards))]
    for piece in pieces:
        load, index = heapq.heappop(loads)
        shards[index] += piece
        heapq.heappush(loads, (load + _cost(piece), index))
    order = {task.item.key: number for number, task in enumerate(tasks)}
    return [sorted(shard, key=lambda task: order[task.item.key]) for shard in shards]


def _pieces(group: list[Task], limit: float) -> list[list[Task]]:
    """A group as it is or, where it is longer than a shard, in as few parts as will do, of about equal cost."""
    parts = min(math.ceil(_cost(group) / limit - 1e-9), len(group))
    if parts <= 1:
        return [group]
    pieces: list[list[Task]] = [[] for _ in range(parts)]
    each, so_far = _cost(group) / parts, 0.0
    for task in group:
        # a task belongs where its middle lies
        middle = so_far + task.item.cost / 2
        pieces[min(int(middle / each), parts - 1)].append(task)
        so_far += task.item.cost
    return [piece for piece in pieces if piece]


def _cost(tasks: Sequence[Task]) -> float:
    return sum(task.item.cost for task in tasks)
