"""Predictions -> a leaderboard: errors with intervals and ranks, baselines among the models, and where they are wrong.

The headline counts no answer as `WORST`, so its denominator is all examples; `Answered` leaves them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sbench_dag.rewards.baselines import baselines
from sbench_dag.rewards.disagreements import Disagreement, disagreements
from sbench_dag.rewards.metrics import WORST, Agreement, Tally, absolute_errors, agreement, best_constant, skill, tally
from sbench_dag.rewards.predictions import ModelScores, Predictions
from sbench_dag.rewards.score import LABELS, Status
from sbench_dag.stats.bootstrap import RESAMPLES, Resampled, cluster_bootstrap, first_place, interval
from sbench_dag.stats.compare import PairedUnits, leave_one_out, paired_units

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Mae:
    """A mean absolute error over all examples, its 95 % interval, and its skill against the best constant."""

    value: float
    interval: Interval
    skill: float | None


@dataclass(frozen=True)
class Answered:
    """Errors over the n examples that have a score, which lie in so many subsets. None where n is 0."""

    n: int
    subsets: int
    group_wise: float | None
    instance_weighted: float | None
    skill: float | None


@dataclass(frozen=True)
class Behind:
    """How much worse than the best model, group-wise: on the same resamples, and with the subsets as units, where the
    best model is `a`."""

    difference: float
    interval: Interval
    units: PairedUnits


@dataclass(frozen=True)
class Row:
    """A model; or a baseline, which has no rank and answers always.

    leave_one_out: the least and the greatest group-wise error without one subset. first: P(rank = 1) among the models.
    behind: None for the best model. agreement: None for a baseline that draws its scores.
    """

    name: str
    rank: int | None
    group_wise: Mae
    instance_weighted: Mae
    answered: Answered | None
    statuses: Mapping[Status, int]
    leave_one_out: Interval
    first: float | None
    behind: Behind | None
    agreement: Agreement | None


@dataclass(frozen=True)
class Subset:
    """labels: how many have each, 1 to 5. errors: by row, no answer counts as `WORST`. answered: how many, by model."""

    name: str
    n: int
    clusters: int
    labels: tuple[int, ...]
    best_constant: int
    best_constant_error: float
    errors: Mapping[str, float]
    answered: Mapping[str, int]


@dataclass(frozen=True)
class Leaderboard:
    """rows: least group-wise error first."""

    n: int
    clusters: int
    resamples: int
    seed: int
    best_constant: int
    rows: tuple[Row, ...]
    subsets: tuple[Subset, ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def models(self) -> tuple[Row, ...]:
        """Without the baselines."""
        return tuple(row for row in self.rows if row.rank is not None)

    def as_json(self) -> dict[str, Any]:
        return _plain(asdict(self))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def leaderboard(predictions: Predictions, resamples: int = RESAMPLES, seed: int = 0, watch: int = 20) -> Leaderboard:
    """watch: how many disagreements of each kind to keep."""
    p = predictions
    entries = _entries(p)
    drawn = cluster_bootstrap(
        np.stack([entry.errors for entry in entries], axis=1), p.subsets, p.clusters, resamples, seed
    )
    models = [i for i, entry in enumerate(entries) if entry.model]
    first = dict(zip(models, first_place(drawn.stratified[:, models]) if models else (), strict=True))
    constant, reference = best_constant(p.labels, p.subsets)
    rows = [
        Row(
            name=entry.name,
            rank=models.index(i) + 1 if entry.model else None,
            group_wise=_mae(entry.tally.group_wise, reference.group_wise, drawn.stratified[:, i]),
            instance_weighted=_mae(entry.tally.instance_weighted, reference.instance_weighted, drawn.pooled[:, i]),
            answered=_answered(entry, p),
            statuses={status: entry.model.count(status) for status in Status} if entry.model else {},
            leave_one_out=leave_one_out(entry.tally.per_subset),
            first=float(first[i]) if entry.model else None,
            behind=_behind(entries, drawn, i, models[0]) if models and i != models[0] else None,
            agreement=None if entry.scores is None else agreement(entry.scores, p.labels, p.subsets, p.clusters),
        )
        for i, entry in enumerate(entries)
    ]
    return Leaderboard(
        n=p.n,
        clusters=len(np.unique(p.clusters)),
        resamples=resamples,
        seed=seed,
        best_constant=constant,
        rows=tuple(rows),
        subsets=_subsets(p, entries),
        disagreements=disagreements(p, watch),
    )


@dataclass(frozen=True)
class _Entry:
    """A model or a baseline. errors: (n,), no answer counted as WORST. scores: (n,), unless it draws them."""

    name: str
    model: ModelScores | None
    scores: np.ndarray | None
    errors: np.ndarray
    tally: Tally


def _entries(p: Predictions) -> list[_Entry]:
    """The least wrong first; of equals the models first, in their order. A model's name is no baseline's."""
    found = [
        _Entry(name, model, model.values, errors, tally(errors, p.subsets))
        for name, model in p.models.items()
        for errors in (absolute_errors(model.values, p.labels, WORST),)
    ]
    found += [
        _Entry(b.name, None, b.scores, b.errors, tally(b.errors, p.subsets))
        for b in baselines(p.labels, p.subsets)
        if b.name not in p.models
    ]
    return sorted(found, key=lambda entry: entry.tally.group_wise or 0.0)


def _mae(value: float | None, reference: float | None, drawn: np.ndarray) -> Mae:
    return Mae(float(value or 0.0), interval(drawn), skill(value, reference))


def _answered(entry: _Entry, p: Predictions) -> Answered | None:
    if entry.model is None:
        return None
    there = entry.model.scored
    if not there.any():
        return Answered(0, 0, None, None, None)
    found = tally(entry.errors[there], p.subsets[there])
    _, reference = best_constant(p.labels[there], p.subsets[there])
    return Answered(
        int(there.sum()),
        len(found.subsets),
        found.group_wise,
        found.instance_weighted,
        skill(found.group_wise, reference.group_wise),
    )


def _behind(entries: list[_Entry], drawn: Resampled, i: int, best: int) -> Behind:
    mine, theirs = entries[i].tally.per_subset, entries[best].tally.per_subset
    units = paired_units(theirs, mine)
    return Behind(units.difference, interval(drawn.stratified[:, i] - drawn.stratified[:, best]), units)


def _subsets(p: Predictions, entries: list[_Entry]) -> tuple[Subset, ...]:
    found = []
    for i, name in enumerate(np.unique(p.subsets).tolist()):
        members = p.subsets == name
        constant, reference = best_constant(p.labels[members], p.subsets[members])
        found.append(
            Subset(
                name=name,
                n=int(members.sum()),
                clusters=len(np.unique(p.clusters[members])),
                labels=tuple(int((p.labels[members] == label).sum()) for label in LABELS),
                best_constant=constant,
                best_constant_error=float(reference.group_wise or 0.0),
                errors={entry.name: float(entry.tally.per_subset[i]) for entry in entries},
                answered={e.name: int(e.model.scored[members].sum()) for e in entries if e.model},
            )
        )
    return tuple(found)
