"""From the answers of all runs to plans and cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sbench_dag.dataset.answers import Answer, Run, Selection, check_answers, check_binding, read_run
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.dataset.eval_spec import EvalSpec, Query, Scoring, TrueLocation
from sbench_dag.errors import InputError
from sbench_dag.outcomes import Reason
from sbench_dag.plans.plan import ORACLE, Plan, answer_set, plan_key


@dataclass(frozen=True)
class Cell:
    """What one source said to one query: a plan, an abstention, or nothing that can be used (`invalid`).

    loc_set: whether the answered places are exactly the true ones; None where that can't be told.
    """

    source: str
    episode: str
    query: str
    synthetic: bool
    plan: str | None = None
    abstained: bool = False
    invalid: Reason | None = None
    loc_set: bool | None = None


def heard(cells: Iterable[Cell]) -> list[Cell]:
    """Those of sources that said anything about the cell's episode: a new source concerns only what it speaks of."""
    cells = list(cells)
    spoke = {(cell.episode, cell.source) for cell in cells if cell.invalid is not Reason.NO_ANSWER}
    return [cell for cell in cells if (cell.episode, cell.source) in spoke]


class Entry(NamedTuple):
    """The little of a plan that partitions and fingerprints need. shown: changes with whatever a page shows of it."""

    key: str
    episode: str
    is_pick: bool
    content: str
    shown: str


@dataclass(frozen=True)
class Manifest:
    """Everything that a study will do. `problems` are shown wherever the results are."""

    plans: tuple[Plan, ...]
    cells: tuple[Cell, ...]
    episodes: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(Entry(p.key, p.episode, p.scoring is Scoring.LIFTED, p.content, p.shown) for p in self.plans)

    @property
    def by_key(self) -> dict[str, Plan]:
        return {plan.key: plan for plan in self.plans}


def build_manifest(dataset: Dataset) -> Manifest:
    """Reads the truths and answers of the data set. A bad file costs what it describes and nothing else."""
    problems: list[InputError] = []
    specs = _read_specs(dataset, problems)
    unreadable = set(dataset.episodes) - set(specs)
    book = _Book(specs)
    for run in _read_runs(dataset, problems):
        answers, bad = check_answers(run, specs, unreadable)
        problems += bad
        for answer in answers:
            book.enter_answer(run, answer)
    book.enter_oracle()
    book.enter_missing()
    return Manifest(
        plans=tuple(sorted(book.plans.values(), key=lambda plan: plan.key)),
        cells=tuple(cell for _, cell in sorted(book.cells.items())),
        episodes=dataset.episodes,
        problems=tuple(str(problem) for problem in problems),
    )


def loc_set(selections: Iterable[Selection], truth: Iterable[TrueLocation]) -> bool:
    """The symbolic score: the answered (room, surface) pairs are exactly the true ones."""
    return {(s.room, s.surface) for s in selections} == {(t.room, t.surface) for t in truth}


class _Book:
    """Collects cells, and the plans that they share."""

    def __init__(self, specs: Mapping[str, EvalSpec]):
        self.specs = specs
        self.plans: dict[str, Plan] = {}
        self.cells: dict[tuple[str, str, str], Cell] = {}

    def enter_answer(self, run: Run, answer: Answer) -> None:
        cell = Cell(run.source(answer), answer.episode, answer.query, run.synthetic)
        if answer.episode not in self.specs:
            self._enter(replace(cell, invalid=Reason.BAD_INPUT))
            return
        query = self.specs[answer.episode].query(answer.query)
        score = answer.loc_set
        if score is None:
            score = not answer.abstained and loc_set(answer.selections, query.answers)
        cell = replace(cell, abstained=answer.abstained, loc_set=score)
        self._enter(cell if answer.abstained else self._with_plan(cell, query, answer.selections))

    def enter_oracle(self) -> None:
        for episode, spec in self.specs.items():
            for query in spec.queries:
                truth = [Selection(a.category, a.room, a.surface) for a in query.answers]
                cell = Cell(ORACLE, episode, query.query, synthetic=False, loc_set=True)
                self._enter(self._with_plan(cell, query, truth))

    def enter_missing(self) -> None:
        """Every source has every query in its denominator: where it said nothing usable, the cell is invalid."""
        queries = {(episode, query) for _, episode, query in self.cells}
        sources = {source: cell.synthetic for (source, _, _), cell in self.cells.items()}
        for source, synthetic in sources.items():
            for episode, query in queries:
                if (source, episode, query) not in self.cells:
                    why = Reason.NO_ANSWER if episode in self.specs else Reason.BAD_INPUT
                    self._enter(Cell(source, episode, query, synthetic, invalid=why))

    def _enter(self, cell: Cell) -> None:
        self.cells[cell.source, cell.episode, cell.query] = cell

    def _with_plan(self, cell: Cell, query: Query, selections: Iterable[Selection]) -> Cell:
        selections = answer_set(selections)
        key = plan_key(cell.episode, query, selections)
        sources = {cell.source, *(self.plans[key].sources if key in self.plans else ())}
        self.plans[key] = Plan(
            key=key,
            episode=cell.episode,
            query=query.query,
            text=query.text,
            category=query.category,
            selections=selections,
            gt_bodies=query.gt_bodies,
            kind=query.kind,
            steps=query.steps,
            scoring=query.scoring,
            twin=query.twin,
            floor=query.floor,
            r_support_m=self.specs[cell.episode].r_support_m,
            sources=tuple(sorted(sources)),
        )
        return replace(cell, plan=key)


def _read_specs(dataset: Dataset, problems: list[InputError]) -> dict[str, EvalSpec]:
    specs: dict[str, EvalSpec] = {}
    for name in dataset.episodes:
        try:
            specs[name] = dataset.episode(name).eval_spec
        except InputError as problem:
            problems.append(problem)
    return specs


def _read_runs(dataset: Dataset, problems: list[InputError]) -> list[Run]:
    runs: list[Run] = []
    for file in dataset.runs:
        try:
            run = read_run(file, problems)
            check_binding(run, dataset.info.revision)
        except InputError as problem:
            problems.append(problem)
            continue
        runs.append(run)
    return runs
