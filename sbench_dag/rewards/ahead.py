"""Work that is done ahead of whoever consumes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def map_ahead(make: Callable[[Item], Made], items: Iterable[Item], threads: int, ahead: int) -> Iterator[Made]:
    """make(item) for each item, in order, by threads that are at most `ahead` items further than the consumer.

    Items are drawn in the consumer's thread. What make raises is raised where its result would come.
    """
    waiting: deque[Future[Made]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ahead")
    try:
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
