"""What is another in the second study than in the first, besides the results: that is what is being compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from sbench_dag.comparison.runs import GATES, Run
from sbench_dag.work.store import Line


def differences(a: Run, b: Run) -> list[dict[str, Any]]:
    """Settings, versions of packages, code and answers that differ: `what`, and its value in `a` and in `b`."""
    found = [*_settings(a, b), *_versions(a, b), *_answers(a, b)]
    return [{"what": what, "a": one, "b": other} for what, one, other in found if one != other]


_Difference = tuple[str, Any, Any]


def _settings(a: Run, b: Run) -> Iterable[_Difference]:
    yield "dataset.revision", a.study.revision, b.study.revision
    yield "scenes.source", a.study.scene_source, b.study.scene_source
    for table in dataclasses.fields(a.study):
        one, other = getattr(a.study, table.name), getattr(b.study, table.name)
        if dataclasses.is_dataclass(one):
            for field in dataclasses.fields(one):
                yield f"{table.name}.{field.name}", getattr(one, field.name), getattr(other, field.name)


def _versions(a: Run, b: Run) -> Iterable[_Difference]:
    """As the stored results name them."""
    for package in ("sbench-dag", "mujoco", "numpy"):
        one, other = (_seen(line.versions.get(package) for line in _lines(run, *GATES)) for run in (a, b))
        yield f"version of {package}", one, other
    for gate in GATES:
        one, other = (_seen(line.made_of.get("code") for line in _lines(run, gate)) for run in (a, b))
        yield f"code of {gate}", one, other


def _lines(run: Run, *gates: str) -> list[Line]:
    return [line for gate in gates for line in run.of(gate).values()]


def _answers(a: Run, b: Run) -> Iterable[_Difference]:
    """Cells of both whose answers differ, in numbers of how many there are."""
    one, other = ({(c.source, c.episode, c.query): c.plan for c in run.study.manifest.cells} for run in (a, b))
    shared = one.keys() & other.keys()
    changed = sum(one[key] != other[key] for key in shared)
    if changed:
        yield "answers", f"{len(shared)} that both have", f"{changed} of them are others"


def _seen(values: Iterable[str | None]) -> str:
    return ", ".join(sorted({value for value in values if value}))
