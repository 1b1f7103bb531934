"""How the numbers of a comparison are said, on a page and in a terminal alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sbench_dag.stats.paired import told_apart

METRICS = {"sr_b": "SR_B reached", "sr_c": "SR_C lifted", "sr_c_held": "SR_C held"}
VERDICTS = {"sr_b": "reached", "sr_c": "lifted", "sr_c_held": "lifted_held"}
UNPAIRED = {
    "only_in_a": "only A has",
    "only_in_b": "only B has",
    "unknown_in_a": "A has no result of",
    "unknown_in_b": "B has no result of",
    "unknown_in_both": "neither has a result of",
}
ALL_PLANS = "all plans, each once"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference, with its sign."""
    return "-" if value is None else f"{100 * value:+.1f}"


def p_value(value: float | None) -> str:
    return "-" if value is None else "<.001" if value < 0.001 else f"{value:.3f}"


def interval(row: Mapping[str, Any]) -> str:
    return "-" if row.get("low") is None else f"[{points(row['low'])}, {points(row['high'])}]"


def verdict(row: Mapping[str, Any]) -> str:
    """What may be said. That nothing was found is never taken for no difference: only the equivalence bound says so."""
    if not row["n"]:
        return "nothing to compare"
    differ = told_apart(row.get("p_holm", row["p"]), row["low"], row["high"])
    found = "they differ" if differ else "no difference found"
    margin = row["equivalent_within"]
    return f"{found}; within {100 * margin:.1f} points" if margin < 1 else found


def unpaired(row: Mapping[str, Any]) -> str:
    """Empty if every cell is in a pair."""
    return ", ".join(f"{words} {row['unpaired'][name]}" for name, words in UNPAIRED.items() if row["unpaired"][name])


def change(one: Mapping[str, Any], metric: str) -> str:
    """Of a plan whose verdict is another."""
    before, after = ("yes" if one[side][VERDICTS[metric]] else "no" for side in ("a", "b"))
    return f"{METRICS[metric]} {before} → {after}"
