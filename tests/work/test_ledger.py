"""The ledger says what the store says, however often it has looked."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from sbench_dag.errors import InputError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from sbench_dag.work.ledger import Ledger
from sbench_dag.work.store import Store

KEYS, FINGERPRINTS = ("a", "b", "c"), ("f", "g")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def result(number: int) -> Result:
    """Every third is invalid, each with a message of its own."""
    if number % 3 == 0:
        return Result(Outcome.INVALID, Reason.TIMED_OUT, f"number {number}")
    return Result(Outcome.SUCCESS, None, f"number {number}")


@pytest.mark.parametrize("seed", range(20))
def test_it_chooses_as_the_store_does_whoever_wrote_and_whenever_it_looked(store: Store, seed: int):
    chance = random.Random(seed)
    segments = [store.segment("gate") for _ in range(3)]
    ledger = Ledger(store, "gate")
    for number in range(40):
        chance.choice(segments).append(chance.choice(KEYS), chance.choice(FINGERPRINTS), result(number))
        if chance.random() < 0.3:
            ledger.refresh()
    ledger.refresh()
    for fingerprint in FINGERPRINTS:
        stored = store.results("gate", dict.fromkeys(KEYS, fingerprint))
        for key in KEYS:
            entry, line = ledger.find(key, fingerprint), stored.get(key)
            assert (entry is None) == (line is None)
            if entry and line:
                assert (entry.outcome, entry.segment) == (line.outcome, line.segment)
                assert entry.outcome.is_result or entry.message == line.result.message


def test_what_somebody_removes_is_forgotten(store: Store):
    ledger = Ledger(store, "gate")
    store.segment("gate").append("a", "f", result(1))
    ledger.refresh()
    assert ledger.find("a", "f")
    shutil.rmtree(store.root / "gate")
    ledger.refresh()
    assert ledger.find("a", "f") is None and ledger.last_result("a") is None


def test_a_line_of_a_newer_version_is_named_and_what_stands_behind_it_is_not_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    ledger, segment = Ledger(store, "gate"), store.segment("gate")
    segment.append("a", "f", Result(Outcome.INVALID, "gone_fishing", "of the future"))  # type: ignore[arg-type]
    segment.append("b", "f", result(1))
    for _ in range(2):
        with pytest.raises(InputError, match=r"\.jsonl: a = .*gone_fishing.*a newer version"):
            ledger.refresh()
    segment.path.write_text(segment.path.read_text().split("\n", 1)[1])
    ledger.refresh()
    assert ledger.find("b", "f")
