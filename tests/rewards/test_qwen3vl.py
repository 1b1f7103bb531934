"""A tiny Qwen3-VL of random weights goes through the code that loads and runs the real ones."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sbench_dag.errors import SetupError
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.base import identity_hash
from sbench_dag.rewards.models.qwen3vl import Qwen3VL
from sbench_dag.rewards.models.qwen3vl_net import FORCED, Qwen3VLNet, load_net
from sbench_dag.rewards.models.torchvision_ops import import_torchvision
from sbench_dag.rewards.models.weights import Weights
from sbench_dag.rewards.prompt import Prompt
from sbench_dag.rewards.score import Score, Status
from sbench_dag.rewards.video import decode
from tests.rewards.random_qwen3vl import write_tiny_qwen3vl
from tests.rewards.videos import cut, write_video

TASK = "put the cup on the shelf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_qwen3vl(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def net(folder: Path) -> Qwen3VLNet:
    return load_net(folder, "float32", "cpu")


@pytest.fixture(scope="module")
def digits(folder: Path) -> Qwen3VL:
    return Qwen3VL("tiny", Weights(str(folder)), decoding="digits", dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def generate(digits: Qwen3VL) -> Qwen3VL:
    return replace(digits, decoding="generate", max_new_tokens=1)


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a.mp4 of 49 frames, b.mkv of 25 and c.mp4 of 3."""
    made = tmp_path_factory.mktemp("videos")
    write_video(made / "a.mp4", 49)
    write_video(made / "b.mkv", 25)
    write_video(made / "c.mp4", 3)
    return made


def example(video: Path, task: str = TASK) -> Example:
    return Example(video.name, video, task)


def three(videos: Path) -> list[Example]:
    return [
        example(videos / "a.mp4"),
        example(videos / "b.mkv", "open the drawer, take what is in it, and put it on the table beside the red bowl"),
        example(videos / "c.mp4", "push"),
    ]


def test_the_digits_give_a_score_and_the_mean_over_their_probabilities(digits: Qwen3VL, videos: Path):
    for score in digits.score(three(videos)):
        assert score.status is Status.SCORED
        assert score.answer == f"ANSWER: {score.value}"
        assert score.expected is not None and 1 <= score.expected <= 5
        assert 0 < score.protocol["mass"] <= 1


def test_what_it_writes_is_parsed(generate: Qwen3VL, videos: Path):
    scores = list(generate.score(three(videos)))
    assert [score.answer for score in scores] == [str(score.value) for score in scores]
    long = next(iter(replace(generate, max_new_tokens=8).score(three(videos)[:1])))
    assert (long.status, long.protocol["cut_off"]) == (Status.UNPARSEABLE, True)


def test_both_decodings_agree_on_what_follows_the_forced_beginning(net: Qwen3VLNet, videos: Path):
    clips = [decode(videos / name) for name in ("a.mp4", "b.mkv", "c.mp4")]
    inputs = net.prepare(clips, ["how far?", "how far, from 1 to 5?", "?"], FORCED)
    written = [f"{FORCED}{answer.text}" for answer in net.generate(inputs, 1)]
    assert written == [answer.text for answer in net.read_digits(inputs)]


@pytest.mark.parametrize("decoding", ["digits", "generate"])
def test_a_batch_gives_what_one_by_one_gives(digits: Qwen3VL, generate: Qwen3VL, videos: Path, decoding: str):
    model = digits if decoding == "digits" else generate
    together = list(replace(model, batch=3).score(three(videos)))
    alone = list(replace(model, batch=1).score(three(videos)))
    assert [score.answer for score in together] == [score.answer for score in alone]
    if decoding == "digits":
        assert [score.expected for score in together] == pytest.approx([score.expected for score in alone], abs=1e-4)


def test_frames_reach_the_network_in_their_order(digits: Qwen3VL, tmp_path: Path):
    forward = write_video(tmp_path / "forward.mp4")
    backward = write_video(tmp_path / "backward.mp4", order=list(range(48, -1, -1)))
    assert _differ(digits, forward, backward)


def test_the_last_frame_counts(digits: Qwen3VL, tmp_path: Path):
    one = write_video(tmp_path / "one.mp4")
    other = write_video(tmp_path / "other.mp4", order=[*range(48), 0])
    assert _differ(digits, one, other)


def _differ(model: Qwen3VL, *videos: Path) -> bool:
    first, second = (score.expected for score in model.score([example(video) for video in videos]))
    assert first is not None and second is not None
    return abs(first - second) > 1e-3


def test_the_network_is_told_the_frames_times_in_the_source(net: Qwen3VLNet, videos: Path):
    """Frames are shown in pairs, each with its mean time: of frames 0 and 7 of ten a second, and so on."""
    clip = decode(videos / "a.mp4")
    inputs = net.prepare([clip], ["?"])
    text = net._processor.tokenizer.decode(inputs["input_ids"][0])
    assert [float(time) for time in re.findall(r"<([\d.]+) seconds>", text)] == pytest.approx(
        [0.35, 1.75, 3.05, 4.45], abs=0.051
    )
    assert clip.indices.tolist() == [0, 7, 14, 21, 27, 34, 41, 48]
    assert inputs["video_grid_thw"].tolist() == [[4, 4, 6]]


def test_odd_numbers_of_frames_and_single_frames_are_taken(digits: Qwen3VL, tmp_path: Path):
    scores = list(digits.score([example(write_video(tmp_path / f"{n}.mp4", n)) for n in (1, 2, 3, 5)]))
    assert [score.status for score in scores] == [Status.SCORED] * 4
    assert [score.protocol["frame_indices"] for score in scores] == [[0], [0, 1], [0, 1, 2], [0, 1, 3, 4]]


def test_writing_is_greedy_whatever_the_checkpoint_says(folder: Path, net: Qwen3VLNet, videos: Path):
    """Its generation_config asks for sampling and a repetition penalty."""
    import torch

    asked = json.loads((folder / "generation_config.json").read_text())
    assert asked["do_sample"] and asked["repetition_penalty"] == 5.0
    inputs = net.prepare([decode(videos / "a.mp4")], ["?"])
    text = ""
    for _ in range(4):
        now = net.prepare([decode(videos / "a.mp4")], ["?"], forced=text)
        with torch.inference_mode():
            logits = net._net(**now).logits[0, -1]
        text += net._processor.tokenizer.decode([int(logits.argmax())])
    assert net.generate(inputs, 4)[0].text == text


def test_what_can_not_be_shown_costs_itself_alone(digits: Qwen3VL, videos: Path, tmp_path: Path):
    broken = cut(write_video(tmp_path / "broken.mp4"))
    too_long = write_video(tmp_path / "strip.mp4", 4, size=(1024, 4))
    batch = [example(tmp_path / "gone.mp4"), *three(videos)[:1], example(broken), example(too_long), *three(videos)[1:]]
    scores = list(replace(digits, batch=4).score(batch))
    assert [score.status is Status.SCORED for score in scores] == [False, True, False, False, True, True]
    assert [score.why for score in scores if score.status is Status.MISSING] == [
        f"{tmp_path}/gone.mp4: no such file",
        f"{broken}: can't be decoded: Invalid data found when processing input",
        f"{too_long}: the model does not take it: absolute aspect ratio must be smaller than 200, got 256.0",
    ]
    alone = list(replace(digits, batch=1).score(three(videos)))
    assert [score.value for score in scores if score.value] == [score.value for score in alone]


def test_a_batch_too_large_for_the_memory_is_done_one_by_one(
    digits: Qwen3VL, videos: Path, monkeypatch: pytest.MonkeyPatch
):
    import torch

    read = Qwen3VLNet.read_digits

    def full(self: Qwen3VLNet, inputs):
        if len(inputs["input_ids"]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return read(self, inputs)

    expected = [score.value for score in digits.score(three(videos))]
    monkeypatch.setattr(Qwen3VLNet, "read_digits", full)
    assert [score.value for score in digits.score(three(videos))] == expected


def test_a_score_stores_its_protocol(digits: Qwen3VL, generate: Qwen3VL, videos: Path):
    own = replace(example(videos / "a.mp4"), prompt="Rate it.")
    first, second = digits.score([example(videos / "a.mp4"), own])
    assert first.protocol.items() >= digits.identity.items()
    assert first.protocol["frame_times_s"] == [0.0, 0.7, 1.4, 2.1, 2.7, 3.4, 4.1, 4.8]
    assert first.protocol["device"] == "cpu"
    assert first.protocol["decoding"] == {"kind": "digits", "forced": "ANSWER: "}
    assert generate.identity["decoding"] == {"kind": "generate", "greedy": True, "max_new_tokens": 1}
    assert set(first.protocol["versions"]) == {"torch", "torchvision", "transformers", "av"}
    assert second.protocol["prompt"] != first.protocol["prompt"] == Prompt().hash()
    assert json.loads(json.dumps(dict(first.protocol), allow_nan=False))


def test_the_identity_is_known_without_loading_and_follows_the_files(folder: Path, tmp_path: Path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "model.safetensors").write_bytes(b"no weights")
    before = identity_hash(Qwen3VL("tiny", Weights(str(copy))))
    assert identity_hash(Qwen3VL("tiny", Weights(str(copy)))) == before
    (copy / "model.safetensors").write_bytes(b"no weightz")
    assert identity_hash(Qwen3VL("tiny", Weights(str(copy)))) != before
    assert identity_hash(Qwen3VL("tiny", Weights(str(copy)), decoding="digits")) != before


def test_folders_that_hold_no_such_model_are_refused(folder: Path, tmp_path: Path, videos: Path):
    other = shutil.copytree(folder, tmp_path / "other")
    config = {**json.loads((folder / "config.json").read_text()), "model_type": "llama"}
    (other / "config.json").write_text(json.dumps(config))
    (empty := tmp_path / "empty").mkdir()
    for wrong, text in ((other, "a model of type llama, not of the Qwen3-VL family"), (empty, "can't be loaded: ")):
        with pytest.raises(SetupError, match=f"{wrong}: {text}"):
            list(Qwen3VL("wrong", Weights(str(wrong)), device="cpu").score(three(videos)))
    with pytest.raises(SetupError, match=f"{empty}: no model in it: none of "):
        _ = Weights(str(empty)).identity


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(SetupError, match=r"pip install 'sbench-dag\[vlm\]'"):
        import_torchvision.__wrapped__()


def test_only_a_commit_of_the_hub_is_an_identity(monkeypatch: pytest.MonkeyPatch):
    from huggingface_hub import HfApi

    class Info:
        sha = "b" * 40

    repo = "teetone/RoboReward-4B"
    assert Weights(repo, "a" * 40).identity == {"weights": repo, "revision": "a" * 40}
    for revision in (None, "main"):
        with pytest.raises(SetupError, match=f"revision {revision} may change. Name a commit of 40 hex digits"):
            _ = Weights(repo, revision).identity
    monkeypatch.setattr(HfApi, "model_info", lambda self, repo, timeout: Info())
    assert Weights(repo).looked_up() == Weights(repo, "b" * 40)
    assert Weights(repo, "a" * 40).looked_up().revision == "a" * 40


def test_what_the_hub_does_not_say_has_to_be_named(monkeypatch: pytest.MonkeyPatch):
    from huggingface_hub import HfApi

    def model_info(self, repo: str, timeout: float) -> None:
        raise ConnectionError("the Hub can't be reached\nand a long story")

    monkeypatch.setattr(HfApi, "model_info", model_info)
    with pytest.raises(SetupError, match=r"the Hub can't be reached\. Name a commit of 40 hex digits"):
        Weights("teetone/RoboReward-4B").looked_up()


def test_scores_come_batch_by_batch(digits: Qwen3VL, videos: Path):
    """So that what is done can be stored while the rest is not."""
    scores = replace(digits, batch=1, decoders=1).score([example(videos / "c.mp4")] * 40)
    first: Score = next(iter(scores))
    assert first.status is Status.SCORED
    scores.close()
