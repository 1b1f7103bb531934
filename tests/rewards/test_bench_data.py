"""Every row of a benchmark is read as it is meant, or named with its file, its line and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.bench.data import BadRowsError, BenchData, cluster_of
from sbench_dag.rewards.bench.source import open_bench
from tests.rewards.bench_data import IDS, LABELS, rows, write_bench


def changed(root: Path, line: int, **fields: Any) -> Path:
    """The benchmark without videos, one of its lines changed; None deletes a field."""
    lines = rows()
    lines[line] = {key: value for key, value in (lines[line] | fields).items() if value is not None}
    return write_bench(root, lines, videos=False)


def problems_of(root: Path) -> tuple[str, ...]:
    with pytest.raises(BadRowsError) as caught:
        open_bench(str(root))
    assert str(caught.value).count("\n") == len(caught.value.problems) - 1
    return tuple(str(problem) for problem in caught.value.problems)


def test_the_layout_of_the_hub(tmp_path: Path):
    root = write_bench(tmp_path)
    data = open_bench(str(root))
    assert tuple(e.example.id for e in data.examples) == IDS
    assert {e.example.id: e.label for e in data.examples} == LABELS
    assert data.missing == () and data.name == f"{root}, test"
    first = data.examples[0]
    assert (first.subset, first.example.task, first.example.prompt) == ("bridge", f"Do {IDS[0]}", None)
    assert first.example.video == root / "test" / f"{IDS[0]}.mp4"
    assert open_bench(str(root / "test")).examples == data.examples


def test_variants_of_a_source_episode_are_one_cluster(tmp_path: Path):
    data = open_bench(str(write_bench(tmp_path, videos=False)))
    clusters = [e.cluster for e in data.examples]
    assert len(set(clusters[:3])) == 1 and clusters[3] not in clusters[:3], "1811 is not 18"
    assert clusters[4] == clusters[5] == "viola/viola_originalsplit_val_index_7"
    assert clusters[6] != clusters[7], "a name that says nothing is an episode of its own"


@pytest.mark.parametrize(
    ("stem", "cluster"),
    [
        (
            "fractal20220817_data_originalsplit_train_index_22148_4",
            "fractal20220817_data_originalsplit_train_index_22148",
        ),
        ("x_originalsplit_test_index_123", "x_originalsplit_test_index_123"),
        ("x_index_5_index_9", "x_index_5"),
        ("my_index_of_things", "my_index_of_things"),
    ],
)
def test_what_a_name_says_of_its_episode(stem: str, cluster: str):
    assert cluster_of(stem) == cluster


def test_a_cluster_that_the_line_names_wins(tmp_path: Path):
    data = open_bench(str(changed(tmp_path, 0, cluster="plan-17")))
    assert data.examples[0].cluster == "plan-17" and data.examples[1].cluster != "plan-17"


@pytest.mark.parametrize("reward", ["5", 5.0, "5.0", " 5 "])
def test_a_label_may_be_text_as_long_as_it_is_a_whole_number(tmp_path: Path, reward: object):
    assert open_bench(str(changed(tmp_path, 0, reward=reward))).examples[0].label == 5


@pytest.mark.parametrize("reward", ["five", 5.5, "4.5", 0, 6, -1, True, "", "nan", [5], 1e400])
def test_what_is_no_label_is_named_and_never_rounded_or_clipped(tmp_path: Path, reward: object):
    (problem,) = problems_of(changed(tmp_path, 2, reward=reward))
    assert "metadata.jsonl: line 3.reward = " in problem and repr(reward)[:20] in problem


def test_every_bad_row_is_named_before_anything_stops(tmp_path: Path):
    lines = rows()
    lines[0]["reward"], lines[4]["reward"] = "five", 9
    del lines[2]["task"]
    problems = problems_of(write_bench(tmp_path, lines, videos=False))
    assert [problem.split(": ")[1].split(" ")[:2] for problem in problems] == [
        ["line", "1.reward"], ["line", "3.task"], ["line", "5.reward"]
    ]  # fmt: skip


def test_an_id_that_comes_twice_is_named_with_both_lines(tmp_path: Path):
    (problem,) = problems_of(write_bench(tmp_path, [*rows(), rows()[3]], videos=False))
    assert f"line 9.file_name = '{IDS[3]}.mp4': already in line 4" in problem


@pytest.mark.parametrize("name", ["/etc/passwd.mp4", "../x/y.mp4", "a/../../y.mp4", "a\\..\\b/c.mp4"])
def test_a_path_that_leaves_the_folder_is_named(tmp_path: Path, name: str):
    (problem,) = problems_of(changed(tmp_path, 0, file_name=name))
    assert "line 1.file_name" in problem and "inside the data set's folder" in problem


def test_a_video_in_no_folder_has_no_subset(tmp_path: Path):
    (problem,) = problems_of(changed(tmp_path, 0, file_name="video.mp4"))
    assert "its folder is its subset" in problem


def test_a_line_that_is_no_json_is_named_and_the_others_are_read(tmp_path: Path):
    root = write_bench(tmp_path, videos=False)
    file = root / "test" / "metadata.jsonl"
    file.write_text(file.read_text().replace('"Do bridge/bridge_originalsplit_train_index_18"', '"Do', 1) + '"a"\n\n')
    problems = problems_of(root)
    assert ["line 4" in problems[0], "line 9" in problems[1]] == [True, True] and len(problems) == 2


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path):
    root = write_bench(tmp_path, videos=False)
    file = root / "test" / "metadata.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(open_bench(str(root)).examples) == len(IDS)


def test_missing_videos_are_named_and_keep_their_labels(tmp_path: Path):
    root = write_bench(tmp_path)
    gone = root / "test" / f"{IDS[5]}.mp4"
    gone.unlink()
    data = open_bench(str(root))
    assert len(data.examples) == len(IDS)
    assert len(data.missing) == 1 and str(gone) in data.missing[0] and IDS[5] in data.missing[0]


def test_an_empty_file_is_no_benchmark_of_nothing(tmp_path: Path):
    assert "no examples in it" in problems_of(write_bench(tmp_path, [], videos=False))[0]


def test_the_list_of_problems_ends_somewhere(tmp_path: Path):
    lines = [row | {"reward": 0, "file_name": f"a/{i}.mp4"} for i, row in enumerate(rows() * 5)]
    with pytest.raises(BadRowsError, match=r"and 20 more$"):
        open_bench(str(write_bench(tmp_path, lines, videos=False)))


def test_where_there_is_no_benchmark_the_text_says_what_was_looked_for(tmp_path: Path):
    with pytest.raises(SetupError, match=r"test/metadata\.jsonl.*final_test\.json"):
        open_bench(str(tmp_path))


def conversation(index: int, **changes: Any) -> dict[str, Any]:
    prompt = f"<video>Given the task, assign a score.\n\nTask: Do {IDS[index]}"
    entry = {
        "subset": IDS[index].split("/")[0],
        "conversations": [
            {"from": "human", "value": prompt},
            {"from": "gpt", "value": f"ANSWER: {LABELS[IDS[index]]}"},
        ],
        "video": [f"{IDS[index]}.mp4"],
        "metadata": {"reward": LABELS[IDS[index]], "original_id": f"id-{index}"},
    }
    return entry | changes


def helm(root: Path, entries: Any) -> BenchData:
    (root / "collected").mkdir()
    (root / "collected" / "final_test.json").write_text(json.dumps(entries))
    return open_bench(str(root))


def test_helms_file_brings_its_own_prompt(tmp_path: Path):
    data = helm(tmp_path, [conversation(i) for i in range(len(IDS))])
    first = data.examples[1]
    assert (first.example.id, first.label, first.subset) == ("id-1:1", 2, "bridge")
    assert first.example.prompt == f"Given the task, assign a score.\n\nTask: Do {IDS[1]}"
    assert first.example.task == f"Do {IDS[1]}"
    assert first.cluster == data.examples[0].cluster
    assert first.example.video == tmp_path / "collected" / f"{IDS[1]}.mp4"
    assert len(data.missing) == len(IDS)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"metadata": {"reward": 6, "original_id": "a"}}, r"[1].metadata.reward = 6"),
        ({"metadata": {"reward": 2}}, "[1].metadata.original_id"),
        ({"video": []}, "[1].video = []"),
        ({"video": ["/a/b.mp4"]}, "[1].video[0] = '/a/b.mp4'"),
        ({"conversations": []}, "[1].conversations"),
        ({"conversations": [{"value": "x"}, {"value": "ANSWER: 4"}]}, "[1].conversations[1].value = 'ANSWER: 4'"),
        ({"subset": 3}, "[1].subset = 3"),
    ],
)
def test_what_is_wrong_in_helms_file_is_named(tmp_path: Path, changes: Mapping[str, Any], named: str):
    with pytest.raises(BadRowsError) as caught:
        helm(tmp_path, [conversation(0), conversation(1, **changes), conversation(2)])
    assert len(caught.value.problems) == 1 and named in str(caught.value)


def test_helms_file_may_be_cut_off(tmp_path: Path):
    (tmp_path / "final_test.json").write_text('[{"subset": ')
    with pytest.raises(InputError, match="truncated"):
        open_bench(str(tmp_path / "final_test.json"))
