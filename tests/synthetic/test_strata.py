"""The demo's data set has something of everything, and its readers come out in the right order."""

from __future__ import annotations

from collections import Counter

import pytest

from sbench_dag.dataset.answers import BLIND
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.dataset.eval_spec import Kind, Query, Scoring, Steps
from sbench_dag.plans.build import Manifest, build_manifest
from sbench_dag.plans.plan import ORACLE
from sbench_dag.scenes.houses.things import all_things


@pytest.fixture(scope="module")
def manifest(made_mini: Dataset) -> Manifest:
    return build_manifest(made_mini)


@pytest.fixture(scope="module")
def queries(made_mini: Dataset) -> list[Query]:
    return [query for name in made_mini.episodes for query in made_mini.episode(name).eval_spec.queries]


def test_mini_has_at_least_40_queries_and_120_unique_plans(queries: list[Query], manifest: Manifest):
    assert len(queries) >= 40
    assert len(manifest.plans) >= 120


def test_every_stratum_is_there(queries: list[Query]):
    for axis, values in (
        ("kind", Kind),
        ("steps", Steps),
        ("scoring", Scoring),
        ("twin", (True, False)),
        ("floor", (True, False)),
    ):
        counts = Counter(getattr(query, axis) for query in queries)
        assert all(counts[value] > 0 for value in values), axis


def test_about_a_fifth_can_only_be_reached_and_a_sixth_asks_for_several(queries: list[Query]):
    shares = Counter((query.scoring, query.steps) for query in queries)
    reached_only = sum(n for (scoring, _), n in shares.items() if scoring is Scoring.REACHED_ONLY) / len(queries)
    multi = sum(n for (_, steps), n in shares.items() if steps is Steps.MULTI) / len(queries)
    assert 0.1 <= reached_only <= 0.3
    assert 0.08 <= multi <= 0.25


def test_every_graspable_category_is_to_be_lifted_at_least_once(queries: list[Query]):
    lifted = {query.category for query in queries if query.scoring is Scoring.LIFTED}
    assert lifted == {thing.category for thing in all_things() if thing.graspable}


def test_no_episode_asks_the_same_words_twice(made_mini: Dataset):
    for name in made_mini.episodes:
        texts = [query.text for query in made_mini.episode(name).eval_spec.queries]
        assert len(set(texts)) == len(texts)


def test_knowing_beats_reading_and_reading_with_low_noise_beats_common_sense(manifest: Manifest):
    right: Counter[str] = Counter()
    for cell in manifest.cells:
        right[cell.source] += bool(cell.loc_set)
    readers = [source for source in right if source not in (ORACLE, BLIND)]
    assert all(right[ORACLE] > right[source] for source in readers)
    assert all(right[BLIND] < right[source] for source in readers if source.endswith("low-noise"))


def test_about_a_quarter_of_the_answers_abstain(manifest: Manifest):
    cells = [cell for cell in manifest.cells if cell.source not in (ORACLE, BLIND)]
    assert 0.15 < sum(cell.abstained for cell in cells) / len(cells) < 0.35
