"""Events in the order of their partitions.

A daemon that chains gates starts the next one for what has finished, with one run for each contiguous range: results
that come in as they please would be followed by one run for each of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from assets.events import Done, Undone

PATIENCE_S = 60.0


def in_order(
    finished: Iterable[Done | Undone | None], order: Sequence[str], patience_s: float = PATIENCE_S
) -> Iterator[Done | Undone]:
    """Holds an item back until all before it have finished, but not much longer than `patience_s`.

    None in `finished` is no item, but a moment to look at the clock. What is held when `finished` raises is let go
    first: it has a result. Items that `order` does not name pass at once.
    """
    waiting = dict.fromkeys(order)
    held: dict[str, Done | Undone] = {}
    since = time.monotonic()
    try:
        for item in finished:
            if item is not None and item.key not in waiting:
                yield item
                continue
            if item is not None:
                held[item.key] = item
            while waiting and (first := next(iter(waiting))) in held:
                del waiting[first]
                yield held.pop(first)
                since = time.monotonic()
            if not held:
                since = time.monotonic()
            elif time.monotonic() - since > patience_s:
                for key in [key for key in waiting if key in held]:
                    del waiting[key]
                    yield held.pop(key)
                since = time.monotonic()
    except GeneratorExit:
        raise
    except BaseException:  # that a run is terminated, too
        yield from (held[key] for key in waiting if key in held)
        raise
    yield from (held[key] for key in waiting if key in held)
