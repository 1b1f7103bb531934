"""What a model answered is never an input error; how it was written down can be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sbench_dag.dataset.answers import check_answers, check_binding, read_run
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.errors import InputError
from tests.by_hand import write_answers


@pytest.fixture
def file(dataset: Dataset) -> Path:
    return dataset.root / "answers" / "s3_vlm" / "results.json"


def problems_of(dataset: Dataset, file: Path) -> list[InputError]:
    problems: list[InputError] = []
    run = read_run(file, problems)
    specs = {name: dataset.episode(name).eval_spec for name in dataset.episodes}
    return problems + check_answers(run, specs, ())[1]


def change_row(**fields: object) -> Callable[[list], None]:
    return lambda rows: rows[0].update(fields)


def repeat(rows: list) -> None:
    rows.append(rows[0])


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (change_row(query="q77"), "[0].query", "no query of episode"),
        (change_row(episode="val_7777__0"), "[0].episode", "no episode of this data set"),
        (
            change_row(answer={"selections": [], "abstain": False}),
            "[0].answer.selections",
            "not an abstention",
        ),
        (
            change_row(answer={"selections": [{"room": "kitchen"}]}),
            "[0].answer.selections[0].category",
            "missing",
        ),
        (change_row(text="Where is the yacht?"), "[0].text", "another revision"),
        (change_row(gt=[{"body": "mug_1_1"}]), "[0].gt", "another revision"),
        (repeat, "[12]", "duplicate answer; the first is row 0"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_kept(
    dataset: Dataset, file: Path, change: Callable[[list], None], field: str, says: str
):
    rows = json.loads(file.read_text())
    change(rows)
    file.write_text(json.dumps(rows))
    problems = problems_of(dataset, file)
    assert [(p.file, p.field) for p in problems] == [(file, field)]
    assert says in str(problems[0])


def test_an_invented_room_is_no_input_error(dataset: Dataset, file: Path):
    rows = json.loads(file.read_text())
    rows[0]["answer"]["selections"][0]["room"] = "ballroom"
    file.write_text(json.dumps(rows))
    assert problems_of(dataset, file) == []


def test_keys_that_nobody_knows_are_kept(file: Path):
    rows = json.loads(file.read_text())
    rows[0]["usage"] = {"tokens": 12}
    file.write_text(json.dumps(rows))
    assert read_run(file, []).answers[0].extra["usage"] == {"tokens": 12}


def test_the_model_is_known_from_the_run(dataset: Dataset, file: Path):
    file.with_name("run.json").unlink()
    run = read_run(file, [])
    assert run.source(run.answers[0]) == "first-seen/vlm"
    blind = read_run(dataset.root / "answers" / "s3_common-sense" / "results.json", [])
    assert blind.source(blind.answers[0]) == "blind"


def test_answers_of_another_revision_are_refused(dataset: Dataset):
    file = write_answers(dataset.root, "other", [("last-seen", "q00", "kitchen", "table")], revision="v1.1")
    with pytest.raises(InputError, match=r"revision = 'v1\.1'.*'by-hand-1'"):
        check_binding(read_run(file, []), dataset.info.revision)


def test_a_truncated_results_file_is_named(file: Path):
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(InputError, match="truncated"):
        read_run(file, [])
