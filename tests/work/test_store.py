"""The store loses nothing, counts nothing twice, and a harness error never replaces a result."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store, Tail, missing

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


def test_a_line_says_which_array_task_wrote_it(store: Store, monkeypatch: pytest.MonkeyPatch):
    here = {"SLURM_JOB_NAME": "job", "SLURM_ARRAY_JOB_ID": "473", "SLURM_ARRAY_TASK_ID": "5"}
    for name, value in {**here, "SLURMD_NODENAME": "c1", "SLURM_RESTART_COUNT": "2"}.items():
        monkeypatch.setenv(name, value)
    store.segment("gate").append("a", "f", GOOD)
    [line] = store.lines("gate")
    peak = line.origin["max_rss_mib"]
    assert line.origin == {"job": "job", "task": 5, "id": "473_5", "node": "c1", "restart": 2, "max_rss_mib": peak}
    assert peak > 10


def test_a_line_that_no_array_task_wrote_says_so(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    assert "job" not in store.segment("gate").append("a", "f", GOOD).origin


def test_looking_again_leaves_nothing_behind_and_loses_nothing(store: Store):
    store.refresh("gate")
    folder = store.root / "gate"
    assert list(folder.iterdir()) == [], "also where nobody has written anything"
    store.segment("gate").append("a", "f", GOOD)
    before = sorted(folder.iterdir())
    os.utime(folder, (0, 0))
    store.refresh("gate")
    assert sorted(folder.iterdir()) == before
    assert [line.key for line in store.lines("gate")] == ["a"]
    assert folder.stat().st_mtime > 0, "that is what a network file system goes by"


def keys(tail: Tail) -> list[str]:
    return [line.key for line in tail.new()]


def test_a_tail_gives_each_line_once(store: Store):
    tail = Tail(store, "gate")
    assert keys(tail) == [], "nobody has written anything"
    segment = store.segment("gate")
    written = [segment.append("a", "f", GOOD), segment.append("b", "f", LOST)]
    assert list(tail.new()) == written
    assert keys(tail) == []
    segment.append("c", "f", GOOD)
    assert keys(tail) == ["c"]
    assert keys(Tail(store, "gate")) == ["a", "b", "c"], "another one begins at the beginning"


def test_a_tail_finds_segments_that_appear_later_and_no_other_gates(store: Store):
    tail, first, second = Tail(store, "gate"), store.segment("gate"), store.segment("gate")
    second.append("b", "f", GOOD)
    assert keys(tail) == ["b"]
    first.append("a", "f", GOOD)
    second.append("c", "f", GOOD)
    store.segment("other").append("d", "f", GOOD)
    assert keys(tail) == ["a", "c"]


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_tail_gives_a_line_that_is_being_written_when_it_is_whole(store: Store, cut: int):
    tail, segment = Tail(store, "gate"), store.segment("gate")
    segment.append("a", "f", GOOD)
    segment.append("b", "f", GOOD)
    content = segment.path.read_bytes()
    segment.path.write_bytes(content[:-cut])
    assert keys(tail) == ["a"]
    assert keys(tail) == []
    with segment.path.open("ab") as file:
        file.write(content[-cut:])
    segment.append("c", "f", GOOD)
    assert keys(tail) == ["b", "c"]


@pytest.mark.parametrize("garbage", [b"\0\0\0\n", b"\xff\xfe\n", b"\n", b'{"checksum":"00","line":{}}\n'])
def test_a_tail_passes_over_garbage(store: Store, garbage: bytes):
    tail, segment = Tail(store, "gate"), store.segment("gate")
    segment.append("a", "f", GOOD)
    with segment.path.open("ab") as file:
        file.write(garbage)
    segment.append("b", "f", GOOD)
    assert keys(tail) == ["a", "b"]
