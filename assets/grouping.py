"""From finished items to finished partitions: an item each, or all plans of an episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.events import Done, Undone
from assets.show import table
from sbench_dag.work.fingerprint import combine
from sbench_dag.work.store import Line

_GONE = "the manifest has changed and no longer names it; reload the code location"
_ROWS_SHOWN = 50


@dataclass(frozen=True)
class Finished:
    """An item's stored line, which may be of an attempt without a result. cached: of an earlier run."""

    line: Line
    cached: bool

    @property
    def key(self) -> str:
        return self.line.key


def group(
    finished: Iterable[Finished | Undone | None],
    partitions: Sequence[str],
    members: Mapping[str, Sequence[str]],
    by_episode: bool,
    show: Callable[[Finished], Mapping[str, Any]],
) -> Iterator[Done | Undone | None]:
    """A partition is finished when all of its members are. Items that are in none of `partitions` pass for nothing."""
    yield from (gone(name) for name in partitions if name not in members)
    partition_of = {key: name for name in partitions for key in members.get(name, ())}
    here: dict[str, dict[str, Finished | Undone]] = {name: {} for name in partitions}
    for item in finished:
        name = partition_of.get(item.key) if item else None
        if item is None or name is None:
            yield None
        elif not by_episode:
            yield one(item, show)
        else:
            here[name][item.key] = item
            if len(here[name]) == len(members[name]):
                yield _many(name, [here[name][key] for key in members[name]])


def gone(partition: str) -> Undone:
    return Undone(partition, "not_run", "unknown", _GONE)


def one(item: Finished | Undone, show: Callable[[Finished], Mapping[str, Any]]) -> Done | Undone:
    """The partition that is this item."""
    if isinstance(item, Undone):
        return item
    return _undone(item) or Done(item.key, item.line.fingerprint, show(item))


def _many(episode: str, items: Sequence[Finished | Undone]) -> Done | Undone:
    """An episode's items: done if all have results. Its version is what Partitions.version says."""
    undone = [found for item in items if (found := _undone(item))]
    if undone:
        first = undone[0]
        text = f"{len(undone)} of {len(items)} items have no result, the first: {first.key}: {first.message}"
        return Undone(episode, first.outcome, first.reason, text)
    done = [item for item in items if isinstance(item, Finished)]
    single = len(done) == 1 and done[0].key == episode
    version = done[0].line.fingerprint if single else combine([item.line.fingerprint for item in done])
    return Done(episode, version, _totals(done))


def _undone(item: Finished | Undone) -> Undone | None:
    if isinstance(item, Undone):
        return item
    result = item.line.result
    if result.outcome.is_result:
        return None
    return Undone(item.key, str(result.outcome), str(result.reason), result.message)


def _totals(items: Sequence[Finished]) -> dict[str, Any]:
    outcomes = Counter(str(item.line.outcome) for item in items)
    ran = [item for item in items if not item.cached]
    failures = [item.line for item in items if item.line.result.reason][:_ROWS_SHOWN]
    rows = [
        {
            "item": line.key,
            "outcome": str(line.outcome),
            "reason": str(line.result.reason),
            "message": line.result.message,
        }
        for line in failures
    ]
    return {
        "items": len(items),
        **outcomes,
        "ran": len(ran),
        "cached": not ran,
        "total_s": round(sum(item.line.result.timings.get("total_s", 0.0) for item in ran), 3),
        "not successful": table(rows),
        "finished": dg.MetadataValue.timestamp(max(item.line.finished for item in items)),
    }
