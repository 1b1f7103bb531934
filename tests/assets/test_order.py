"""Events come in the order of their partitions, so that what follows them is a range."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from assets import order
from assets.events import Done, Undone
from assets.order import in_order
from tests.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(order, "time", one)
    return one


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


def ticking(clock: Clock, moments: str) -> list[str]:
    """What leaves at which moment, one a second, if patience is two; `.` is one at which nothing finishes."""
    seen, arrived = [], []

    def finished() -> Iterator[Done | None]:
        for key in moments:
            arrived.append(key)
            yield None if key == "." else Done(key, "1", {})
            clock.now += 1

    for item in in_order(finished(), "abcd", patience_s=2.0):
        seen.append((item.key, "".join(arrived)))
    return [f"{key} after {moment}" for key, moment in seen]


@pytest.mark.parametrize(
    ("moments", "leaves"),
    [
        ("", []),
        ("......", []),
        ("a....", ["a after a"]),
        ("c.......", ["c after c..."]),
        ("dc......", ["c after dc..", "d after dc.."]),
        ("....c...", ["c after ....c.."]),
        ("c.ab", ["a after c.a", "b after c.ab", "c after c.ab"]),
        ("c......a......d......", ["c after c...", "a after c......a", "d after c......a......d.."]),
    ],
)
def test_while_nothing_finishes_nobody_waits_longer_either(clock: Clock, moments: str, leaves: list[str]):
    assert ticking(clock, moments) == leaves


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_what_is_held_leaves_before_the_error_does(error: type[BaseException]):
    def finished() -> Iterator[Done]:
        yield from done("cb")
        raise error("no space left on device")

    seen = []
    with pytest.raises(error, match="no space"):
        for item in in_order(finished(), "abcd"):
            seen.append(item.key)
    assert seen == ["b", "c"]


def test_who_does_not_want_any_more_gets_no_more():
    items = in_order(done("acb"), "abcd")
    assert isinstance(items, Generator) and next(items).key == "a"
    items.close()
    assert list(items) == []
