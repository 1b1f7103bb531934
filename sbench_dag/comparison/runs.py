"""A run to be compared: a study with the results that it has, even if code or engine are others today."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.reports.grid import Results
from sbench_dag.study import Study, find_study, load_study, study_names
from sbench_dag.work.store import Line

GATES = ("stage_b", "stage_c")


class Run(Results):
    """Today's results of a gate; where there is none at all, those of the last code, engine and settings that it ran
    with, as long as they are of today's episodes and answers."""

    def __init__(self, study: Study):
        super().__init__(study)
        self.earlier: set[str] = set()

    def of(self, gate: str) -> dict[str, Line]:
        if gate not in self._gates and not any(line.outcome.is_result for line in super().of(gate).values()):
            found = self._of_the_last_run(gate)
            if found:
                self._gates[gate] = found
                self.earlier.add(gate)
        return self._gates[gate]

    def _of_the_last_run(self, gate: str) -> dict[str, Line]:
        """One generation, never a mixture."""
        generations: dict[tuple[str | None, ...], dict[str, str]] = defaultdict(dict)
        finished: dict[tuple[str | None, ...], float] = defaultdict(float)
        for line in self._store.lines(gate):
            if line.outcome.is_result and self._is_of_todays_input(gate, line):
                generation = tuple(line.made_of.get(part) for part in ("code", "engine", "configuration"))
                generations[generation][line.key] = line.fingerprint
                finished[generation] = max(finished[generation], line.finished)
        if not finished:
            return {}
        return self._store.results(gate, generations[max(finished, key=lambda generation: finished[generation])])

    def _is_of_todays_input(self, gate: str, line: Line) -> bool:
        entry = self.study.manifest.entry.get(line.key)
        if entry is None:
            return False
        wanted = {"episode": self.fingerprints.content(entry.episode), "answer": entry.content}
        if gate == "stage_c":
            before = self.of("stage_b").get(line.key)
            wanted["stage_b"] = before.fingerprint if before else ""
        return all(line.made_of.get(part) == value for part, value in wanted.items())


def open_run(text: str) -> Run:
    """text: the name of a study, or the path of a study's folder, which may lie in another SBENCH_HOME.

    Raises:
        SetupError: it is neither.
    """
    if text in study_names():
        return Run(find_study(text))
    if (Path(text) / "study.toml").exists():
        return Run(load_study(Path(text).resolve()))
    known = ", ".join(study_names()) or "none"
    raise SetupError(f"{text!r}: no study of that name (there are: {known}), and no folder with a study.toml")


def refuse_other_content(a: Run, b: Run) -> None:
    """
    Raises:
        SetupError: an episode, or a plan of the same key, is another in the two studies, or they share no query.
    """
    episodes = sorted(set(a.study.manifest.episodes) & set(b.study.manifest.episodes))
    others = [name for name in episodes if a.fingerprints.content(name) != b.fingerprints.content(name)]
    if others:
        _refuse(a, b, f"{len(others)} of {len(episodes)} episodes differ in their files, e.g. {others[0]}")
    plans_a, plans_b = a.study.manifest.entry, b.study.manifest.entry
    shared = plans_a.keys() & plans_b.keys()
    changed = sorted(key for key in shared if plans_a[key].content != plans_b[key].content)
    if changed:
        _refuse(a, b, f"{len(changed)} of {len(shared)} plans are judged by something else, e.g. {changed[0]}")
    queries = [{(cell.episode, cell.query) for cell in run.study.manifest.cells} for run in (a, b)]
    if not queries[0] & queries[1]:
        _refuse(a, b, "no query is in both")


def _refuse(a: Run, b: Run, why: str) -> None:
    revisions = " and ".join(f"{run.study.folder} (revision {run.study.revision})" for run in (a, b))
    raise SetupError(f"{revisions} can't be compared: {why}; only their answers may differ")
