"""A comparison for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sbench_dag.comparison.words import (
    ALL_PLANS,
    METRICS,
    change,
    interval,
    p_value,
    percent,
    points,
    unpaired,
    verdict,
)
from sbench_dag.reports.text import table

SHOWN = 20
_HEAD = ("source", "pairs", "A %", "B %", "A - B", "95 %", "only A", "only B", "p", "p Holm", "detectable", "so")


def compare_text(found: Mapping[str, Any]) -> str:
    parts = [*_runs(found), "", *_differences(found["differences"])]
    for metric, name in METRICS.items():
        rows = [row for row in (*found["sources"], *found["plans"]) if row["metric"] == metric]
        parts += ["", name, table(_HEAD, (_line(row) for row in rows)), *_gaps(rows)]
    parts += ["", *_changed(found["changed"])]
    return "\n".join(parts)


def _runs(found: Mapping[str, Any]) -> Iterable[str]:
    for name in ("a", "b"):
        run = found[name]
        yield f"{name.upper()}  {run['study']}, revision {run['revision']}, policy {run['policy']} ({run['folder']})"
        if run["earlier"]:
            yield f"   {' and '.join(run['earlier'])}: with other code, another engine or other settings than today's"


def _differences(differences: list[Mapping[str, Any]]) -> list[str]:
    if not differences:
        return ["Nothing else differs between the two: settings, versions, code and answers are the same."]
    return [table(("what differs", "A", "B"), [(one["what"], one["a"], one["b"]) for one in differences])]


def _line(row: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        row["source"] or ALL_PLANS,
        row["n"],
        percent(row.get("rate_a")),
        percent(row.get("rate_b")),
        points(row.get("difference")),
        interval(row),
        row.get("only_a", "-"),
        row.get("only_b", "-"),
        p_value(row.get("p")),
        p_value(row.get("p_holm")),
        percent(row.get("detectable")),
        verdict(row),
    )


def _gaps(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for row in rows:
        if unpaired(row):
            ends = f"with them A - B is {points(row['least'])} at the least, {points(row['most'])} at the most"
            yield f"  {row['source'] or ALL_PLANS}: in no pair: {unpaired(row)}; {ends}"


def _changed(changed: list[Mapping[str, Any]]) -> Iterable[str]:
    yield f"{len(changed)} plans have another verdict."
    for one in changed[:SHOWN]:
        changes = "; ".join(change(one, metric) for metric in one["changed"])
        yield f"  {_plans(one)}: {changes} ({', '.join(one['sources'])})"
    if len(changed) > SHOWN:
        yield f"  ... and {len(changed) - SHOWN} more: --json or --html"


def _plans(one: Mapping[str, Any]) -> str:
    a, b = one["a"]["plan"], one["b"]["plan"]
    return a if a == b else f"{one['episode']}.{one['query']}, {a} and {b}"
