"""Every rate has its denominator, and what the harness could not do is never mixed with what a robot failed at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.plans.build import build_manifest
from sbench_dag.plans.manifest import write_manifest
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.episode_page import write_episode
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.page import write_summary
from sbench_dag.reports.versions import episode_version, summary_version, written_version
from sbench_dag.study import Study, create_study, load_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.by_hand import write_answers


@pytest.fixture
def study(home: Path, dataset: Dataset) -> Study:
    return create_study("by-hand", dataset.root)


class Fates:
    """Writes results of plans by hand."""

    def __init__(self, study: Study):
        self.study, self.store, self.fingerprints = study, Store(study.results), Fingerprints(study)

    def set(self, gate: str, plan: Plan, outcome: Outcome, reason: Reason | None = None, **row: object) -> None:
        result = Result(outcome, reason, "by hand", dict(row))
        self.store.segment(gate).append(plan.key, self.fingerprints.of(gate, plan.key), result)

    def reach_and_lift(self, plan: Plan) -> None:
        self.set("stage_b", plan, Outcome.SUCCESS, reached=True, selections=[])
        if plan.scoring == "lifted":
            self.set("stage_c", plan, Outcome.SUCCESS, success_held=True, video=None)


def cell(study: Study, source: str) -> dict:
    return next(c for c in make_grid(Results(study))["cells"] if c["source"] == source)


def plans_of(study: Study, source: str) -> list[Plan]:
    return [plan for plan in study.manifest.plans if source in plan.sources]


def test_nothing_run_is_not_run_and_not_failed(study: Study):
    for c in make_grid(Results(study))["cells"]:
        assert c["planned"] == 6 == c["abstained"] + c["not_run"]
        assert (c["done"], c["invalid"]) == (0, 0)
        assert c["sr_b"]["completed"] == c["abstained"]


def test_an_abstention_is_a_failure_and_stays_in_the_denominator(study: Study):
    fates = Fates(study)
    for plan in plans_of(study, "last-seen/vlm"):
        fates.reach_and_lift(plan)
    found = cell(study, "last-seen/vlm")
    assert (found["planned"], found["abstained"], found["done"]) == (6, 2, 4)
    assert found["sr_b"]["rate"] == found["sr_b"]["rate_completed"] == 4 / 6
    assert found["sr_c"]["planned"] == 4, "q01 asks for reaching only"
    assert found["outcomes"] == {"abstained": 2, "success": 4}


def test_invalid_counts_against_the_one_rate_and_not_against_the_other(study: Study):
    fates = Fates(study)
    plans = plans_of(study, "oracle-loc")
    for plan in plans[1:]:
        fates.reach_and_lift(plan)
    fates.set("stage_b", plans[0], Outcome.INVALID, Reason.WORKER_CRASHED)
    found = cell(study, "oracle-loc")
    assert (found["done"], found["invalid"], found["not_run"]) == (5, 1, 0)
    assert found["sr_b"]["rate"] == 5 / 6
    assert (found["sr_b"]["rate_completed"], found["sr_b"]["completed"]) == (1.0, 5)
    assert found["outcomes"] == {"invalid.worker_crashed": 1, "success": 5}


def test_a_pick_whose_rollout_is_invalid_was_reached_all_the_same(study: Study):
    fates = Fates(study)
    plan = next(p for p in plans_of(study, "oracle-loc") if p.scoring == "lifted")
    fates.set("stage_b", plan, Outcome.SUCCESS, reached=True, selections=[])
    fates.set("stage_c", plan, Outcome.INVALID, Reason.PHYSICS_WARNING)
    found = cell(study, "oracle-loc")
    assert (found["invalid"], found["reached"], found["picks"]["lifted"]) == (1, 1, 0)


def test_the_decomposition_holds_exactly_in_every_cell(study: Study):
    fates = Fates(study)
    for i, plan in enumerate(study.manifest.plans):
        if i % 3 == 0:
            fates.set("stage_b", plan, Outcome.FAILURE, Reason.TOO_FAR, reached=False, selections=[])
        else:
            fates.set("stage_b", plan, Outcome.SUCCESS, reached=True, selections=[])
            outcome, reason = (Outcome.SUCCESS, None) if i % 2 else (Outcome.FAILURE, Reason.NOT_LIFTED)
            if plan.scoring == "lifted":
                fates.set("stage_c", plan, outcome, reason, success_held=False, video=None)
    for c in make_grid(Results(study))["cells"]:
        picks = c["picks"]
        assert c["planned"] == c["abstained"] + c["done"] + c["invalid"] + c["not_run"]
        if picks["reached"]:
            product = picks["reached"] / picks["planned"] * c["p_lifted_given_reached"]["rate"]
            assert c["sr_c"]["rate"] == pytest.approx(product, abs=1e-12)
        assert picks["lifted_held"] <= picks["lifted"] <= picks["reached"] <= picks["planned"]


def test_one_execution_counts_in_every_cell_that_gave_the_answer(home: Path, dataset: Dataset):
    write_answers(dataset.root, "copycat", [("last-seen", q, "kitchen", "table") for q in ("q00", "q01", "q02")])
    study = create_study("by-hand", dataset.root)
    fates = Fates(study)
    plan = next(p for p in study.manifest.plans if "last-seen/vlm" in p.sources and "last-seen/copycat" in p.sources)
    fates.reach_and_lift(plan)
    assert cell(study, "last-seen/vlm")["reached"] == cell(study, "last-seen/copycat")["reached"] == 1


def test_a_grid_with_a_gap_is_refused(study: Study):
    manifest = build_manifest(study.dataset)
    write_manifest(study.folder / "manifest", replace(manifest, cells=manifest.cells[1:]))
    with pytest.raises(SetupError, match="blind has 5 of 6 queries"):
        make_grid(Results(load_study(study.folder)))


def test_strata_are_parts_of_the_whole(study: Study):
    grid = make_grid(Results(study))
    for axis in ("kind", "steps", "scoring", "twin", "floor"):
        parts = [s for s in grid["strata"] if s["axis"] == axis]
        for source in ("oracle-loc", "blind"):
            counts = [c["planned"] for s in parts for c in s["cells"] if c["source"] == source]
            assert sum(counts) == 6


def test_an_unreadable_episode_stays_in_the_denominator_and_in_the_report(home: Path, dataset: Dataset):
    dataset.episode("val_0002__0").files.eval_spec.write_text("{")
    study = create_study("by-hand", dataset.root)
    found = cell(study, "oracle-loc")
    assert (found["planned"], found["invalid"]) == (6, 3)
    page = write_summary(Results(study)).read_text()
    assert "val_0002__0/eval_spec.json" in page


def test_the_pages_open_without_network_and_say_what_is_synthetic(study: Study):
    fates = Fates(study)
    for plan in study.manifest.plans:
        fates.reach_and_lift(plan)
    page = write_summary(Results(study)).read_text()
    assert "They are no\nvision-language models" in page
    episode = write_episode(Results(study), "val_0001__0").read_text()
    assert "Pick up all the potatoes" in episode


def test_a_pages_version_changes_with_what_it_shows(study: Study):
    def versions() -> list[str]:
        results = Results(study)
        found = [episode_version(study, episode, results.look) for episode in study.manifest.episodes]
        return [*found, summary_version(study, found)]

    before = versions()
    plan = next(p for p in study.manifest.plans if p.episode == "val_0001__0")
    Fates(study).reach_and_lift(plan)
    after = versions()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_a_page_says_which_version_it_is(study: Study):
    results = Results(study)
    page = write_episode(results, "val_0001__0")
    assert written_version(page) == episode_version(study, "val_0001__0", results.look)
    versions = [episode_version(study, episode, results.look) for episode in study.manifest.episodes]
    assert written_version(write_summary(results)) == summary_version(study, versions)
    assert written_version(page.with_name("never-written.html")) is None
