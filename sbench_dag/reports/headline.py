"""What the first screen says: who leads, by how much, how sure that is, and where the rest is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sbench_dag.dataset.answers import BLIND
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.matrix import ANCHORS
from sbench_dag.reports.pairs import turned


def headline(cells: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """By SR_C, or by SR_B where no query asks for lifting; None if no source but the anchors has a verdict.

    leaders: all of the best rate. Differences are the first leader's minus the other's.
    """
    metric = "sr_c" if any(cell["picks"]["planned"] for cell in cells) else "sr_b"
    by_source = {cell["source"]: cell for cell in cells}
    readers = [c for c in cells if c["source"] not in ANCHORS and c[metric]["completed"]]
    if not readers:
        return None
    best = max(c[metric]["rate"] for c in readers)
    leaders = [c["source"] for c in readers if c[metric]["rate"] == best]
    others = [c for c in readers if c["source"] not in leaders]
    second = max(others, key=lambda c: c[metric]["rate"])["source"] if others else None
    against = {p["source"]: p for p in _against(leaders[0], pairs, metric)}
    alike = [s for s, p in against.items() if s not in (*ANCHORS, *leaders) and not p["told_apart"]]
    lost = by_source[leaders[0]]["lost_picks" if metric == "sr_c" else "lost"]
    return {
        "metric": metric,
        "leaders": leaders,
        "rate": by_source[leaders[0]][metric],
        "ceiling": by_source[ORACLE][metric] if ORACLE in by_source else None,
        "floor": by_source[BLIND][metric] if BLIND in by_source else None,
        "runner_up": against.get(second) if second else None,
        "over_floor": against.get(BLIND),
        "under_ceiling": against.get(ORACLE),
        "not_told_apart": alike,
        "readers": len(readers),
        "lost": lost,
    }


def _against(leader: str, pairs: Sequence[Mapping[str, Any]], metric: str) -> list[dict[str, Any]]:
    """The leader's pairs, each turned so that the leader comes first."""
    found = []
    for pair in pairs:
        if pair["metric"] != metric or leader not in (pair["a"], pair["b"]):
            continue
        found.append({**(pair if pair["a"] == leader else turned(pair)), "source": _other(pair, leader)})
    return found


def _other(pair: Mapping[str, Any], source: str) -> str:
    return pair["b"] if pair["a"] == source else pair["a"]
