"""The store loses nothing, counts nothing twice, and a harness error never replaces a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store, missing

GOOD = Result(Outcome.SUCCESS, row={"value": 1})
LOST = Result(Outcome.FAILURE, Reason.NOT_LIFTED, row={"value": 2})
CRASH = Result(Outcome.INVALID, Reason.WORKER_CRASHED)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_the_first_result_with_the_wanted_fingerprint_counts(store: Store):
    segment = store.segment("gate")
    for fingerprint, result in (("old", LOST), ("new", GOOD), ("new", LOST)):
        segment.append("a", fingerprint, result)
    line = store.result("gate", "a", "new")
    assert line is not None and line.result == GOOD
    assert store.result("gate", "a", "newer") is None


def test_a_harness_error_is_replaced_by_a_result_and_never_replaces_one(store: Store):
    segment = store.segment("gate")
    for result in (CRASH, GOOD, CRASH):
        segment.append("a", "f", result)
    line = store.result("gate", "a", "f")
    assert line is not None and line.outcome is Outcome.SUCCESS
    assert len(list(store.lines("gate"))) == 3, "attempts stay readable"


def test_an_item_that_was_invalid_is_missing(store: Store):
    segment = store.segment("gate")
    segment.append("a", "f", CRASH)
    segment.append("b", "f", LOST)
    wanted = dict.fromkeys("abc", "f")
    assert missing("abc", store.results("gate", wanted)) == ["a", "c"]


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_torn_last_line_is_dropped_and_the_others_are_kept(store: Store, cut: int):
    segment = store.segment("gate")
    segment.append("a", "f", GOOD)
    segment.append("b", "f", GOOD)
    content = segment.path.read_bytes()
    segment.path.write_bytes(content[:-cut])
    assert [line.key for line in store.lines("gate")] == (["a", "b"] if cut == 1 else ["a"])


def test_an_altered_line_is_dropped(store: Store):
    segment = store.segment("gate")
    segment.append("a", "f", GOOD)
    segment.path.write_bytes(segment.path.read_bytes().replace(b'"value":1', b'"value":7'))
    assert list(store.lines("gate")) == []


def test_segments_of_two_workers_don_t_meet(store: Store):
    first, second = store.segment("gate"), store.segment("gate")
    first.append("a", "f", GOOD)
    second.append("b", "f", LOST)
    assert set(store.results("gate", {"a": "f", "b": "f"})) == {"a", "b"}
    assert first.path != second.path


def test_a_row_that_json_can_t_hold_is_refused(store: Store):
    with pytest.raises(ValueError, match="JSON"):
        store.segment("gate").append("a", "f", Result(Outcome.SUCCESS, row={"value": float("nan")}))
