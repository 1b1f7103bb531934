"""The comparison itself: the same cells in both studies, pair by pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sbench_dag.comparison.differences import differences
from sbench_dag.comparison.runs import Run, refuse_other_content
from sbench_dag.dataset.answers import BLIND
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.expand import CellResult, expand
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.links import episode_page, plan_page
from sbench_dag.reports.matrix import house_of
from sbench_dag.stats.paired import compare_pair, holm

METRICS: Mapping[str, Callable[[CellResult], bool | None]] = {
    "sr_b": lambda cell: cell.reached,
    "sr_c": lambda cell: cell.lifted,
    "sr_c_held": lambda cell: cell.lifted_held,
}
_Both = tuple[CellResult | None, CellResult | None]
"""The same cell in a and in b; None where a study does not have it."""


def compare(a: Run, b: Run) -> dict[str, Any]:
    """Everything that `sbench compare --json` prints.

    `sources`: a row per source and metric; `plans`: a row per metric, over the plans of all sources, each once.
    A difference is a - b. `changed`: the plans, or the answers to a query, whose verdict is another.

    Raises:
        SetupError: the studies are not of the same episodes and plans.
    """
    refuse_other_content(a, b)
    cells = _side_by_side(a.cells(), b.cells())
    by_source: dict[str, list[_Both]] = defaultdict(list)
    for (source, _, _), both in cells.items():
        by_source[source].append(both)
    order = sorted(by_source, key=lambda source: (source != ORACLE, source == BLIND, source))
    plans = list(_side_by_side(_plan_cells(a), _plan_cells(b)).values())
    return {
        "a": _about(a),
        "b": _about(b),
        "differences": differences(a, b),
        "sources": [row for metric in METRICS for row in _family(metric, order, by_source)],
        "plans": [_row(metric, None, plans) for metric in METRICS],
        "changed": _changed(a, b, cells.values()),
    }


def _side_by_side(a: Iterable[CellResult], b: Iterable[CellResult]) -> dict[tuple[str, str, str], _Both]:
    one, other = ({(c.cell.source, c.cell.episode, c.cell.query): c for c in cells} for cells in (a, b))
    return {key: (one.get(key), other.get(key)) for key in sorted(one.keys() | other.keys())}


def _plan_cells(run: Run) -> list[CellResult]:
    """What became of each plan: as if each were a source of its own."""
    plans = run.study.manifest.plans
    cells = tuple(Cell(plan.key, plan.episode, plan.query, synthetic=False, plan=plan.key) for plan in plans)
    return expand(Manifest(plans, cells, (), ()), run.of("stage_b"), run.of("stage_c"))


def _family(metric: str, order: Iterable[str], by_source: Mapping[str, list[_Both]]) -> list[dict[str, Any]]:
    """The rows of one metric; p_holm is adjusted over the sources that have pairs."""
    rows = [_row(metric, source, by_source[source]) for source in order]
    tested = [row for row in rows if row["n"]]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row["p_holm"] = p
    return rows


def _row(metric: str, source: str | None, cells: Iterable[_Both]) -> dict[str, Any]:
    """least, most: the difference a - b if all that is unknown, in either study, came out against a, or against b."""
    mine = [both for both in cells if metric == "sr_b" or _asks_for_lifting(both)]
    values = np.array([[_value(metric, cell) for cell in both] for both in mine], dtype=float).reshape(-1, 2)
    houses = np.array([house_of(_any(both).cell.episode) for both in mine], dtype=str)
    known = ~np.isnan(values).any(axis=1)
    found: dict[str, Any] = {"metric": metric, "source": source, "n": int(known.sum()), **_unpaired(metric, mine)}
    if len(values):
        low, high = np.nan_to_num(values, nan=0.0), np.nan_to_num(values, nan=1.0)
        found["least"] = float((low[:, 0] - high[:, 1]).mean())
        found["most"] = float((high[:, 0] - low[:, 1]).mean())
    if not known.any():
        return found
    pair = compare_pair(values[known, 0], values[known, 1], houses[known])
    interval = pair.interval
    return {
        **found,
        "rate_a": (pair.both + pair.only_a) / pair.n,
        "rate_b": (pair.both + pair.only_b) / pair.n,
        "both": pair.both,
        "only_a": pair.only_a,
        "only_b": pair.only_b,
        "neither": pair.neither,
        "difference": pair.difference,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "method": interval and str(interval.method),
        "clusters": len(set(houses[known])),
        "p": pair.p,
        "detectable": pair.detectable,
        "equivalent_within": pair.equivalent_within,
    }


def _unpaired(metric: str, cells: Sequence[_Both]) -> dict[str, Any]:
    """Why cells are in no pair: one study does not have them, or has nothing to say of them (invalid or not run)."""
    counts: Counter[str] = Counter()
    for a, b in cells:
        if a is None or b is None:
            counts["only_in_b" if a is None else "only_in_a"] += 1
            continue
        unknown = [METRICS[metric](cell) is None for cell in (a, b)]
        if any(unknown):
            counts["unknown_in_both" if all(unknown) else "unknown_in_a" if unknown[0] else "unknown_in_b"] += 1
    names = ("only_in_a", "only_in_b", "unknown_in_a", "unknown_in_b", "unknown_in_both")
    return {"planned": len(cells), "unpaired": {name: counts[name] for name in names}}


def _value(metric: str, cell: CellResult | None) -> float:
    value = METRICS[metric](cell) if cell else None
    return np.nan if value is None else float(value)


def _any(both: _Both) -> CellResult:
    cell = both[0] or both[1]
    assert cell is not None
    return cell


def _asks_for_lifting(both: _Both) -> bool:
    return any(cell is not None and cell.is_pick for cell in both)


def _changed(a: Run, b: Run, cells: Iterable[_Both]) -> list[dict[str, Any]]:
    """The pairs of plans with a verdict that is another, once each, with the sources that gave both answers."""
    found: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for one, other in cells:
        if one is None or other is None:
            continue
        verdicts = {name: (what(one), what(other)) for name, what in METRICS.items()}
        changed = [name for name, pair in verdicts.items() if None not in pair and pair[0] != pair[1]]
        if not changed:
            continue
        key = (one.cell.episode, one.cell.query, one.cell.plan, other.cell.plan)
        row = found.setdefault(key, {
            "episode": one.cell.episode,
            "query": one.cell.query,
            "text": one.question.text if one.question else "",
            "changed": changed,
            "sources": [],
            "a": _side(a, one),
            "b": _side(b, other),
        })  # fmt: skip
        row["sources"].append(one.cell.source)
    return list(found.values())


def _side(run: Run, cell: CellResult) -> dict[str, Any]:
    """page and video: relative to the study's folder; None where there is none."""
    line = run.of("stage_c").get(cell.cell.plan or "")
    video = line.row["video"]["file"] if line and line.row.get("video") else None
    return {
        "plan": cell.cell.plan,
        "outcome": cell.label,
        "reached": cell.reached,
        "lifted": cell.lifted,
        "lifted_held": cell.lifted_held,
        "page": _page(run, cell.cell),
        "video": video if video and (run.study.folder / video).exists() else None,
    }


def _page(run: Run, cell: Cell) -> str | None:
    """The plan's, or where it stands on the episode's."""
    own, episode = plan_page(run.study, cell.episode, cell.plan or ""), episode_page(run.study, cell.episode)
    if cell.plan and own.exists():
        return own.relative_to(run.study.folder).as_posix()
    return f"{episode.relative_to(run.study.folder).as_posix()}#{cell.plan or ''}" if episode.exists() else None


def _about(run: Run) -> dict[str, Any]:
    """earlier: the gates whose results are of other code, another engine or other settings than today's."""
    study = run.study
    return {
        "study": study.name,
        "folder": str(study.folder),
        "revision": study.revision,
        "policy": study.policy.name,
        "earlier": sorted(run.earlier),
    }
