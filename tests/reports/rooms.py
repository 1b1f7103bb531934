"""A study of two rooms with tables and cubes whose names are as odd as names can be, and what was said about it."""

from __future__ import annotations

import json
from pathlib import Path

from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.dataset.dataset import Dataset
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from tests.grounding.test_ground import write_rooms

NAME = "ro#oms 100% <b>"
EPISODE = f"{NAME}__0"
SOURCE = "last<seen>/m&m"
TEXT = 'Find the <i>ball</i> & "go"'
BALL, FIRST_CUBE, SECOND_CUBE, THIRD_CUBE, CUBE_ON_FLOOR = ("q00", "q01", "q02", "q03", "q04")
"""The queries: of the ball on the floor of room 1, and of the cubes from cube_0_0 on. The last is of reaching only."""


def rooms_study(home: Path) -> Study:
    """Made, and nothing run. `home` is SBENCH_HOME."""
    dataset = home / "datasets" / "rooms"
    dataset_from_scene(write_rooms(home / "scenes"), dataset, NAME)
    file = Dataset(dataset).episode(EPISODE).files.eval_spec
    spec = json.loads(file.read_text())
    spec["queries"][0]["text"] = TEXT
    spec["queries"][-1]["scoring"] = "reached_only"
    file.write_text(json.dumps(spec))
    say(dataset, {
        FIRST_CUBE: [("room 1", "table")],  # where another cube lies
        SECOND_CUBE: None,
        THIRD_CUBE: [("attic", "table")],
        CUBE_ON_FLOOR: [("room 1", "floor"), ("room 0", "floor")],
    })  # fmt: skip
    video = {"video": {"enabled": True, "width": 64, "height": 64}}
    return create_study("rooms", dataset, video)


def say(dataset: Path, places: dict[str, list[tuple[str, str]] | None]) -> None:
    """What SOURCE answers to each query; None abstains."""
    strategy, model = SOURCE.split("/")
    revision = json.loads((dataset / "dataset.json").read_text())["revision"]
    answers = [
        Answer(
            EPISODE, query, strategy, tuple(Selection("cube", *place) for place in said or ()), said is None, None, i
        )
        for i, (query, said) in enumerate(places.items())
    ]
    file = dataset / "answers" / "s3_odd" / "results.json"
    texts = {(EPISODE, query): "Pick up the cube" for query in places}
    write_run(file, Run(file, model, revision, True, tuple(answers)), texts)
