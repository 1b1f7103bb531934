"""Events come in the order of their partitions, so that what follows them is a range."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assets.events import Done, Undone
from assets.order import in_order


def done(keys: str) -> Iterator[Done]:
    return (Done(key, "1", {}) for key in keys)


@pytest.mark.parametrize(
    ("arrives", "leaves"),
    [("abcd", "abcd"), ("dcba", "abcd"), ("badc", "abcd"), ("bd", "bd"), ("caxb", "axbc"), ("", "")],
)
def test_whatever_the_order_in_which_it_arrives(arrives: str, leaves: str):
    assert "".join(item.key for item in in_order(done(arrives), "abcd")) == leaves


def test_what_is_next_leaves_at_once():
    seen = []
    arrived = []

    def finished() -> Iterator[Done | Undone]:
        for key in "acbd":
            arrived.append(key)
            yield Undone(key, "invalid", "timed_out", "") if key == "a" else Done(key, "1", {})

    for item in in_order(finished(), "abcd"):
        seen.append((item.key, "".join(arrived)))
    assert seen == [("a", "a"), ("b", "acb"), ("c", "acb"), ("d", "acbd")]


def test_nobody_waits_longer_than_patience_allows():
    assert [item.key for item in in_order(done("dcba"), "abcd", patience_s=-1.0)] == ["d", "c", "b", "a"]


def test_what_is_held_leaves_before_the_error_does():
    def finished() -> Iterator[Done]:
        yield from done("cb")
        raise OSError("no space left on device")

    seen = []
    with pytest.raises(OSError, match="no space"):
        for item in in_order(finished(), "abcd"):
            seen.append(item.key)
    assert seen == ["b", "c"]
