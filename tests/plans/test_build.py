"""Answers become plans once each, and every source keeps every query in its denominator."""

from __future__ import annotations

import json

import pytest

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Reason
from sbench_dag.plans.build import Manifest, build_manifest
from sbench_dag.plans.manifest import StoredManifest, read_manifest, write_manifest
from sbench_dag.plans.plan import answer_set
from tests.by_hand import write_answers

SOURCES = {"blind", "first-seen/vlm", "last-seen/vlm", "oracle-loc"}


def cells_of(manifest: Manifest, source: str) -> list:
    return [cell for cell in manifest.cells if cell.source == source]


def test_equal_answers_are_one_plan_with_all_its_sources(dataset: Dataset):
    manifest = build_manifest(dataset)
    plan = manifest.by_key[next(c.plan for c in manifest.cells if c.source == "oracle-loc" and c.query == "q00")]
    assert plan.sources == ("last-seen/vlm", "oracle-loc")
    assert len({(p.episode, p.query, p.selections) for p in manifest.plans}) == len(manifest.plans)


def test_the_order_of_selections_makes_no_other_plan():
    kitchen, bedroom = Selection("mug", "kitchen", "table"), Selection("mug", "bedroom", "bed")
    assert answer_set([kitchen, bedroom]) == answer_set([bedroom, kitchen])
    assert len(answer_set([kitchen, kitchen])) == 2, "two potatoes at one place are two things to pick up"


def test_every_source_has_every_query(dataset: Dataset):
    manifest = build_manifest(dataset)
    assert {cell.source for cell in manifest.cells} == SOURCES
    assert all(len(cells_of(manifest, source)) == 6 for source in SOURCES)
    assert sum(cell.abstained for cell in manifest.cells) == 2


def test_a_query_that_a_run_left_out_is_invalid_and_not_dropped(dataset: Dataset):
    write_answers(dataset.root, "lazy", [("last-seen", "q00", "kitchen", "table")])
    cells = cells_of(build_manifest(dataset), "last-seen/lazy")
    assert [cell.invalid for cell in cells] == [None, Reason.NO_ANSWER, Reason.NO_ANSWER] * 2


def test_a_bad_episode_costs_its_own_queries_only(dataset: Dataset):
    dataset.episode("val_0001__0").files.eval_spec.write_text("{")
    manifest = build_manifest(dataset)
    assert len(manifest.problems) == 1
    assert "val_0001__0/eval_spec.json" in manifest.problems[0]
    for source in SOURCES:
        cells = cells_of(manifest, source)
        assert len(cells) == 6
        assert {c.invalid for c in cells if c.episode == "val_0001__0"} == {Reason.BAD_INPUT}
        assert {c.invalid for c in cells if c.episode == "val_0002__0"} == {None}
    assert manifest.episodes == ("val_0001__0", "val_0002__0"), "a bad episode stays a partition, for all to see"


def test_of_a_duplicate_answer_neither_counts(dataset: Dataset):
    file = dataset.root / "answers" / "s3_vlm" / "results.json"
    rows = json.loads(file.read_text())
    file.write_text(json.dumps([*rows, rows[0]]))
    manifest = build_manifest(dataset)
    assert len(manifest.problems) == 1
    first = cells_of(manifest, "first-seen/vlm")[0]
    assert (first.plan, first.invalid) == (None, Reason.NO_ANSWER)


def test_plan_keys_are_stable_readable_and_sort_by_episode(dataset: Dataset):
    keys = [plan.key for plan in build_manifest(dataset).plans]
    assert keys == sorted(keys) == [plan.key for plan in build_manifest(dataset).plans]
    assert keys[0].startswith("val_0001__0.q00.bedroom-bed.")
    assert not any(set(key) & set("/| ") for key in keys)


def test_who_gave_an_answer_is_no_part_of_a_plans_content(dataset: Dataset):
    before = {plan.key: plan.content for plan in build_manifest(dataset).plans}
    write_answers(dataset.root, "copycat", [("last-seen", "q00", "kitchen", "table")])
    after = {plan.key: plan.content for plan in build_manifest(dataset).plans}
    assert before == after


def test_a_changed_answer_changes_that_plan_only(dataset: Dataset):
    before = {plan.key: plan.content for plan in build_manifest(dataset).plans}
    file = dataset.root / "answers" / "s3_common-sense" / "results.json"
    rows = json.loads(file.read_text())
    rows[0]["answer"]["selections"][0]["room"] = "bedroom"
    file.write_text(json.dumps(rows))
    after = {plan.key: plan.content for plan in build_manifest(dataset).plans}
    assert len(set(before.items()) - set(after.items())) == 1
    assert len(set(after.items()) - set(before.items())) == 1


def test_a_manifest_is_read_back_as_it_was_written(dataset: Dataset, tmp_path):
    manifest = build_manifest(dataset)
    assert write_manifest(tmp_path / "manifest", manifest)
    stored = StoredManifest(tmp_path / "manifest")
    assert (stored.plans, stored.cells) == (manifest.plans, manifest.cells)
    assert (stored.episodes, stored.problems) == (manifest.episodes, manifest.problems)
    assert [entry.content for entry in stored.entries] == [plan.content for plan in manifest.plans]
    assert not write_manifest(tmp_path / "manifest", manifest), "nothing changed, so nothing is written"


@pytest.mark.parametrize("text", ['{"episodes": [', "[]", '{"episodes": []}', "\xff"])
def test_a_damaged_manifest_says_what_renews_it(dataset: Dataset, tmp_path, text: str):
    write_manifest(tmp_path, build_manifest(dataset))
    (tmp_path / "episodes.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(SetupError, match=r"episodes\.json.*sbench study create"):
        read_manifest(tmp_path)
    write_manifest(tmp_path, build_manifest(dataset))
    assert read_manifest(tmp_path).episodes
