"""A truth that can't be true is an error of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.errors import InputError


def change_answer(**fields: Any) -> Callable[[dict], None]:
    return lambda spec: spec["queries"][0]["answers"][0].update(fields)


def change_query(**fields: Any) -> Callable[[dict], None]:
    return lambda spec: spec["queries"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        (change_answer(room="ballroom"), "queries[0].answers[0].room", "ballroom"),
        (change_answer(body="mug_9_9"), "queries[0].answers[0].body", "mug_9_9"),
        (change_answer(surface="altar"), "queries[0].answers[0].surface", "altar"),
        (change_answer(room=None), "queries[0].answers[0].room", None),
        (change_answer(body=3), "queries[0].answers[0].body", 3),
        (change_query(scoring="liftd"), "queries[0].scoring", "liftd"),
        (change_query(answers=[]), "queries[0].answers", []),
        (change_query(query="q01"), "queries[].query", "q01"),
        (lambda spec: spec.pop("r_support"), "r_support", None),
        (
            lambda spec: spec["facts"]["room_name_map"].update({"1": "kitchen"}),
            "facts.room_name_map",
            "kitchen",
        ),
        (lambda spec: spec["facts"]["room_name_map"].update({"one": "hall"}), "facts.room_name_map", "one"),
    ],
)
def test_a_bad_truth_is_named(dataset: Dataset, change: Callable[[dict], None], field: str, value: object):
    episode = dataset.episode("val_0001__0")
    spec = json.loads(episode.files.eval_spec.read_text())
    change(spec)
    episode.files.eval_spec.write_text(json.dumps(spec))
    with pytest.raises(InputError) as error:
        _ = episode.eval_spec
    assert (error.value.file, error.value.field, error.value.value) == (episode.files.eval_spec, field, value)
