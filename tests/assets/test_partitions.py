"""The partitions of a study, their mappings, and ranges of the stale ones."""

from __future__ import annotations

import pytest

from assets.partitions import Partitions, spans
from sbench_dag.gate import Keys
from sbench_dag.pipeline import GATES, items
from tests.assets.support import Bench

ORDER = list("abcdefg")


@pytest.mark.parametrize(
    ("stale", "harmless", "expected"),
    [
        ("", "abcdefg", []),
        ("d", "abcefg", [("d", "d")]),
        ("bf", "acdeg", [("b", "f")]),
        ("bf", "aceg", [("b", "b"), ("f", "f")]),
        ("abcdefg", "", [("a", "g")]),
        ("acg", "be", [("a", "c"), ("g", "g")]),
        ("ag", "abcdefg", [("a", "g")]),
    ],
)
def test_a_range_covers_what_has_a_result_and_nothing_that_was_not_asked_for(stale: str, harmless: str, expected: list):
    assert spans(ORDER, set(stale), set(harmless)) == expected


def test_partitions_stand_in_the_order_in_which_a_cluster_gets_the_items(bench: Bench):
    partitions = Partitions(bench.study.manifest)
    for gate in GATES:
        assert list(partitions.keys[gate.keys]) == [item.key for item in items(bench.study, gate)]


def test_an_episodes_plans_stand_together(bench: Bench):
    plans = Partitions(bench.study.manifest).keys[Keys.PLAN]
    episodes = [plan.split(".")[0] for plan in plans]
    assert len([i for i in range(1, len(plans)) if episodes[i] != episodes[i - 1]]) == 1


# others map a key to itself, and no gate of plans hangs on one of picks
PAIRS = [pair for other in (Keys.PLAN, Keys.PICK) for pair in ((Keys.EPISODE, other), (other, Keys.EPISODE))]


@pytest.mark.parametrize(("up", "down"), PAIRS)
def test_upstream_and_downstream_are_each_others_inverse(bench: Bench, up: Keys, down: Keys):
    partitions = Partitions(bench.study.manifest)
    parents = partitions.upstream(up, down)
    children = partitions.downstream(up, down)
    assert set(parents) == set(partitions.keys[down])
    assert {(p, c) for c, ps in parents.items() for p in ps} == {(p, c) for p, cs in children.items() for c in cs}
