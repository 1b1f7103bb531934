"""Stored answers are read as they were given: what is no score never becomes one, and no row gets lost unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sbench_dag.errors import SetupError
from sbench_dag.rewards.bench.export import write_predictions
from sbench_dag.rewards.bench.stored import read_predictions
from sbench_dag.rewards.score import Score, Status

IDS = ("a/1", "a/2", "b/3", "b/4")
MODELS = {
    "lab/model-8b": {
        "a/1": Score(Status.SCORED, 4, answer='it says "ANSWER: 4",\nand, on another line, naïve', expected=3.75),
        "a/2": Score(Status.UNPARSEABLE, why="3-4 is not one score", answer="ANSWER: 3-4"),
        "b/3": Score(Status.MISSING, why="the server hung", protocol={"model": "m", "frames": [0, 7], "t": 0.5}),
        "b/4": Score(Status.SCORED, 1, answer="x" * 300_000),
    },
    "constant 3": {name: Score(Status.SCORED, 3) for name in IDS},
}


def read(file: Path, ids: tuple[str, ...] = IDS, model: str | None = None):
    return read_predictions(file, ids, model)


def write(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl", "helm-runs"])
def test_what_we_write_reads_back_equal(tmp_path: Path, name: str):
    write_predictions(tmp_path / name, MODELS)
    found = read(tmp_path / name)
    assert found.models == MODELS and found.problems == []


def test_an_export_needs_a_form(tmp_path: Path):
    with pytest.raises(SetupError, match=r"scores\.xlsx"):
        write_predictions(tmp_path / "scores.xlsx", MODELS)


def test_a_table_with_scores_alone_is_enough(tmp_path: Path):
    file = write(tmp_path / "gpt.csv", "﻿id,score\na/1,4\na/2,\nb/3,4.0\n")
    (scores,) = read(file).models.values()
    assert list(read(file).models) == ["gpt"] and list(read(file, model="mine").models) == ["mine"]
    assert [scores[name].value for name in IDS[:3]] == [4, None, 4]
    assert scores["a/2"].status == Status.MISSING and "b/4" not in scores


@pytest.mark.parametrize("value", ["4.5", "0", "6", "45", "-1", "four", "nan", "inf"])
def test_a_score_that_is_none_is_neither_rounded_nor_clipped(tmp_path: Path, value: str):
    found = read(write(tmp_path / "m.csv", f"id,score\na/1,{value}\n")).models["m"]["a/1"]
    assert (found.status, found.value) == (Status.UNPARSEABLE, None) and value in found.why


def test_raw_answers_go_through_the_parser(tmp_path: Path):
    lines = [
        {"id": "a/1", "answer": "ANSWER: **4**"},
        {"id": "a/2", "answer": "ANSWER: 45"},
        {"id": "b/3", "answer": None},
    ]
    found = read(write(tmp_path / "m.jsonl", "\n".join(map(json.dumps, lines)))).models["m"]
    assert [(found[name].status, found[name].value) for name in IDS[:3]] == [
        (Status.SCORED, 4),
        (Status.UNPARSEABLE, None),
        (Status.UNPARSEABLE, None),
    ]


def test_the_data_sets_own_key_is_an_id(tmp_path: Path):
    found = read(write(tmp_path / "m.jsonl", '{"file_name": "a/1.mp4", "score": 2}\n'))
    assert found.models["m"]["a/1"].value == 2


def test_several_models_in_one_file(tmp_path: Path):
    found = read(write(tmp_path / "m.csv", "model,id,score\nx,a/1,1\ny,a/1,5\n")).models
    assert {name: scores["a/1"].value for name, scores in found.items()} == {"x": 1, "y": 5}


@pytest.mark.parametrize("count", [2, 3])
def test_of_several_answers_none_counts(tmp_path: Path, count: int):
    found = read(write(tmp_path / "m.csv", "id,score\nb/3,2\n" + "a/1,4\n" * count))
    assert found.models["m"]["a/1"] == Score(Status.MISSING, why="the file has several answers")
    assert len(found.problems) == count - 1 and "line 4.id = 'a/1'" in found.problems[0]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"id": "a/2", "sco', "line 2"),
        ('["a/2", 4]', "line 2"),
        ('{"score": 4}', "line 2.id"),
        ('{"id": "a/2", "status": "fine", "value": 4}', "line 2.status = 'fine'"),
        ('{"id": "a/2", "status": "missing", "value": 4}', "line 2.value = 4"),
        ('{"id": "a/2", "status": "scored", "value": 4, "expected": "high"}', "line 2.expected = 'high'"),
        ('{"id": "a/2", "status": "scored", "value": 4, "protocol": "{"}', "line 2.protocol = '{'"),
    ],
)
def test_a_bad_row_is_named_and_its_example_has_no_answer(tmp_path: Path, line: str, named: str):
    found = read(write(tmp_path / "m.jsonl", f'{{"id": "a/1", "score": 1}}\n{line}\n{{"id": "b/3", "score": 3}}\n'))
    assert {name: score.value for name, score in found.models["m"].items()} == {"a/1": 1, "b/3": 3}
    assert len(found.problems) == 1 and f"m.jsonl: {named}" in found.problems[0]


def test_a_csv_row_with_too_many_cells_is_named(tmp_path: Path):
    found = read(write(tmp_path / "m.csv", "id,score\na/1,4,5\na/2,2\n"))
    assert set(found.models["m"]) == {"a/2"} and "line 2" in found.problems[0]


def test_an_empty_file_holds_no_answers(tmp_path: Path):
    with pytest.raises(SetupError, match="no row can be used"):
        read(write(tmp_path / "m.csv", ""))


def test_answers_about_no_example_are_counted_and_named(tmp_path: Path):
    found = read(write(tmp_path / "m.csv", "id,score\na/1,4\nz/8,1\nz/9,1\n"))
    assert set(found.models["m"]) == {"a/1"}
    assert found.problems == [f"{tmp_path / 'm.csv'}: 2 answers are about no example, e.g. 'z/8'"]


def test_answers_about_other_data_are_refused(tmp_path: Path):
    with pytest.raises(SetupError, match="its ids, like 'z/8', are not those of the examples"):
        read(write(tmp_path / "m.csv", "id,score\nz/8,1\n"))
    with pytest.raises(SetupError, match=r"line 2\.id"):
        read(write(tmp_path / "m.csv", "name,score\na/1,1\n"))


def helm_state(requests: list[dict[str, Any]], model: str = "lab/model-8b") -> str:
    return json.dumps({"adapter_spec": {"method": "generation", "model": model}, "request_states": requests})


def request(name: str, result: Any, location: str | None = None) -> dict[str, Any]:
    media = [{"content_type": "text/plain", "text": "Given"}, {"content_type": "video/mp4", "location": location}]
    content = {"multimedia_content": {"media_objects": media}} if location else {"text": "Given the task"}
    return {
        "instance": {"input": content, "references": [{"output": {"text": "3"}, "tags": ["correct"]}], "id": name},
        "train_trial_index": 0,
        "request": {"model": "lab/model-8b", "max_tokens": 5000},
        **({} if result is None else {"result": result}),
    }


def completion(*texts: str) -> dict[str, Any]:
    return {"success": True, "completions": [{"text": text, "logprob": 0.0, "tokens": []} for text in texts]}


def helm_runs(root: Path, **runs: str) -> Path:
    for name, state in runs.items():
        folder = root / "runs" / name
        folder.mkdir(parents=True)
        (folder / "scenario_state.json").write_text(state)
        (folder / "per_instance_stats.json").write_text("[]")
    return root / "runs"


def test_helm_runs_of_all_subsets_are_one_model_and_our_parser_reads_their_answers(tmp_path: Path):
    root = helm_runs(
        tmp_path,
        a=helm_state([request("a/1", completion("ANSWER: **4**")), request("a/2", completion("ANSWER: 45"))]),
        b=helm_state([request("b/3", completion()), request("b/4", {"success": False, "error": "429"})]),
    )
    found = read(root)
    scores = found.models["lab/model-8b"]
    assert found.problems == [] and len(found.models) == 1
    assert [(scores[i].status, scores[i].value) for i in IDS] == [
        (Status.SCORED, 4),
        (Status.UNPARSEABLE, None),
        (Status.MISSING, None),
        (Status.MISSING, None),
    ]
    assert scores["b/4"].why == "429" and scores["a/1"].answer == "ANSWER: **4**"


def test_helms_id_is_not_the_hubs_but_the_video_is_the_same(tmp_path: Path):
    state = helm_state([request("x:0", completion("5"), "/data/collected/a/1.mp4"), request("x:1", None, "/d/a/2.mp4")])
    scores = read(helm_runs(tmp_path, a=state)).models["lab/model-8b"]
    assert scores["a/1"].value == 5 and scores["a/2"].status == Status.MISSING


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (request("a/2", completion("4", "5")), "request_states[1].result.completions = 2"),
        ({"instance": {"id": 7}}, "request_states[1].instance.id = 7"),
        ({}, "request_states[1].instance"),
        (request("a/2", {"completions": [{"text": None}]}), "request_states[1].result.completions[0].text"),
    ],
)
def test_a_bad_entry_of_a_helm_run_is_named(tmp_path: Path, bad: dict[str, Any], named: str):
    found = read(helm_runs(tmp_path, a=helm_state([request("a/1", completion("4")), bad])))
    assert set(found.models["lab/model-8b"]) == {"a/1"}
    assert len(found.problems) == 1 and named in found.problems[0]


def test_a_helm_file_that_broke_off_hides_no_other_run(tmp_path: Path):
    whole = helm_state([request("a/1", completion("4"))])
    found = read(helm_runs(tmp_path, a=whole, b=whole[:-20]))
    assert set(found.models["lab/model-8b"]) == {"a/1"} and "truncated" in found.problems[0]


def test_errors_are_no_answers(tmp_path: Path):
    root = helm_runs(tmp_path, a=helm_state([]))
    with pytest.raises(SetupError, match=r"no answers; give scenario_state\.json"):
        read(root / "a" / "per_instance_stats.json")


@pytest.mark.parametrize(("name", "said"), [("gone.csv", "no predictions there"), ("x.txt", "expected .csv, .jsonl")])
def test_what_can_not_be_read_says_what_can(tmp_path: Path, name: str, said: str):
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(SetupError, match=said):
        read(tmp_path / name)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SetupError, match=r"no scenario_state\.json in it"):
        read(tmp_path / "empty")
