"""The small model learns what can be seen and what is asked, is the same for the same seed, and scores like others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sbench_dag.cli import main
from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.ablation import ARMS, ablate, ablation_table
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.base import RewardModel, identity_hash
from sbench_dag.rewards.models.registry import reward_model
from sbench_dag.rewards.score import Status
from sbench_dag.rewards.small.about import revision
from sbench_dag.rewards.small.checkpoint import load, save
from sbench_dag.rewards.small.data import Split, load_split
from sbench_dag.rewards.small.frames import FRAMES, RULE, look
from sbench_dag.rewards.small.model import SmallModel
from sbench_dag.rewards.small.network import scores, targets
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.train import Trained, group_mae, predict, train
from sbench_dag.rewards.small.words import Words
from tests.rewards.small_data import write_dataset, write_video

CPU = torch.device("cpu")
SETTINGS = Settings(size=16, width=8, epochs=30, patience=30, batch=8, learning_rate=3e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("grey"))


@pytest.fixture(scope="module")
def splits(folder: Path) -> dict[str, Split]:
    return {name: load_split(folder, name, SETTINGS.size) for name in ("train", "val", "test")}


@pytest.fixture(scope="module")
def trained(splits: dict[str, Split]) -> Trained:
    return train(splits["train"], splits["val"], SETTINGS, CPU)


@pytest.fixture
def weights(trained: Trained, tmp_path: Path) -> Path:
    save(tmp_path / "weights", trained, {"videos": 24})
    return tmp_path / "weights"


def test_it_learns_what_is_seen_and_what_is_asked(trained: Trained, splits: dict[str, Split]):
    test = splits["test"]
    predicted = predict(trained.network, trained.words, test, CPU)
    assert group_mae(predicted, test) < 0.5, "always 2 is off by 1.3"
    assert trained.val_mae < 0.5


def test_the_same_seed_gives_the_same_weights_and_another_one_others(splits: dict[str, Split]):
    def weights(seed: int) -> torch.Tensor:
        settings = replace(SETTINGS, epochs=2, seed=seed)
        found = train(splits["train"], splits["val"], settings, CPU)
        return torch.cat([tensor.flatten() for tensor in found.network.state_dict().values()])

    assert torch.equal(weights(0), weights(0))
    assert not torch.equal(weights(0), weights(1))


def test_training_stops_when_it_gets_no_better_and_keeps_the_best(splits: dict[str, Split]):
    epochs = []
    settings = replace(SETTINGS, learning_rate=0.0, patience=3)
    found = train(splits["train"], splits["val"], settings, CPU, epochs.append)
    assert (found.epoch, len(epochs)) == (1, 4)
    assert found.val_mae == epochs[0].val_mae


def test_nothing_to_learn_from_is_an_error(splits: dict[str, Split]):
    with pytest.raises(SetupError, match="0 videos to learn from and 24 to validate with"):
        train(splits["train"].of_kinds(()), splits["val"], SETTINGS, CPU)


def test_a_label_is_four_thresholds_and_the_score_their_median():
    assert targets(torch.tensor([1, 3, 5])).tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
    assert scores(targets(torch.tensor([1, 2, 3, 4, 5]))).tolist() == [1, 2, 3, 4, 5]
    assert scores(torch.tensor([[0.9, 0.6, 0.4, 0.1]])).tolist() == [3]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [(100, [0, 51, 75, 87, 93, 96, 99]), (1, [0] * 7), (4, [0, 0, 0, 0, 0, 0, 3])],
)
def test_frames_crowd_towards_the_end_and_the_last_one_is_the_last(frames: int, expected: list[int]):
    assert RULE.indices(frames, frames / 15).tolist() == expected
    assert len(expected) == FRAMES


def test_what_the_model_looks_at_is_small_and_in_order(tmp_path: Path):
    frames, clip = look(write_video(tmp_path / "v.mp4", 200), 16)
    assert frames.shape == (FRAMES, 3, 16, 16) and frames.dtype == torch.uint8
    assert frames.float().mean(dim=(1, 2, 3)).diff().min() >= 0
    assert clip.indices[-1] == 19


def test_words_are_those_of_training_and_all_others_are_one():
    words = Words.of(["Pick up the mug", "Pick up the bowl."])
    assert words.known == ("bowl", "mug", "pick", "the", "up")
    assert words.encode(["the ladle", "pick"]).tolist() == [[5, 1], [4, 0]]
    assert words.encode([""]).tolist() == [[1]]


def test_videos_that_are_one_file_are_decoded_once(folder: Path, tmp_path: Path):
    copy = tmp_path / "set" / "train" / "grey"
    copy.mkdir(parents=True)
    video = next((folder / "train" / "grey").iterdir())
    for name in ("a.mp4", "b.mp4"):
        (copy / name).hardlink_to(video)
    line = {"task": "Pick up the mug", "reward": 3}
    lines = [json.dumps({"file_name": f"grey/{name}", **line}) for name in ("a.mp4", "b.mp4")]
    (copy.parent / "metadata.jsonl").write_text("\n".join(lines))
    split = load_split(tmp_path / "set", "train", 16)
    assert (len(split), len(split.frames), split.frames_of.tolist()) == (2, 1, [0, 0])


def test_a_split_that_is_not_there_says_why(tmp_path: Path):
    with pytest.raises(SetupError, match="of less than five houses make-dataset makes no test split"):
        load_split(tmp_path, "test", 16)


def test_the_model_scores_as_it_was_trained_whatever_the_batches(weights: Path, trained: Trained, folder: Path):
    test = load_split(folder, "test", SETTINGS.size)
    examples = [labelled.example for labelled in test.examples]
    model: RewardModel = SmallModel(weights, "cpu", batch=5)
    found = list(model.score(examples))
    assert [score.value for score in found] == predict(trained.network, trained.words, test, CPU).tolist()
    assert all(score.status is Status.SCORED and 1 <= (score.expected or 0) <= 5 for score in found)
    assert [score.value for score in SmallModel(weights, "cpu").score(examples)] == [score.value for score in found]
    protocol = found[0].protocol
    assert protocol["model"] == "small" and protocol["revision"] == revision(weights)
    assert protocol["frame_indices"][-1] == protocol["source_frames"] - 1


def test_a_video_that_is_missing_costs_its_own_score_only(weights: Path, folder: Path, tmp_path: Path):
    good = load_split(folder, "test", SETTINGS.size).examples[0].example
    found = list(SmallModel(weights, "cpu").score([Example("x", tmp_path / "no.mp4", "Pick up the mug"), good]))
    assert [score.status for score in found] == [Status.MISSING, Status.SCORED]
    assert "no such file" in found[0].why
    assert list(SmallModel(weights, "cpu").score([])) == []


def test_the_identity_changes_with_the_weights_and_needs_no_torch_file_to_be_read(weights: Path):
    before = identity_hash(SmallModel(weights, "cpu"))
    assert before == identity_hash(SmallModel(weights, "cpu"))
    file = weights / "weights.pt"
    file.write_bytes(file.read_bytes() + b"other")
    assert identity_hash(SmallModel(weights, "cpu")) != before


def test_reward_models_toml_names_it(weights: Path, tmp_path: Path):
    (tmp_path / "reward_models.toml").write_text('[ours]\nkind = "small"\nweights = "weights"\ndevice = "cpu"\n')
    model = reward_model("ours", tmp_path)
    assert model.identity == {"model": "ours", "revision": revision(weights)}


def test_an_ablation_without_seeds_is_refused(splits: dict[str, Split]):
    with pytest.raises(ValueError, match="no seeds"):
        ablate(splits, SETTINGS, (), CPU)


def test_a_saved_model_is_the_one_that_was_trained(weights: Path, trained: Trained):
    network, words, settings = load(weights, CPU)
    assert (words, settings) == (trained.words, SETTINGS)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, trained.network.state_dict()[name])


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("weights.pt", b"no weights", "not the weights of this model"),
        ("model.json", b'{"settings": {"size": 16, "depth": 3}, "words": []}', "depth"),
        ("model.json", b'{"settings": {"size": 17}, "words": []}', "must be a multiple of 16"),
        ("model.json", b"{", "not valid JSON"),
    ],
)
def test_a_damaged_model_is_named(weights: Path, name: str, content: bytes, what: str):
    (weights / name).write_bytes(content)
    with pytest.raises(InputError, match=what):
        load(weights, CPU)


def test_a_folder_without_a_model_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"model\.json"):
        _ = SmallModel(tmp_path, "cpu").identity


def test_the_ablation_leaves_out_what_it_says_and_tests_on_everything(splits: dict[str, Split]):
    found = ablate(splits, replace(SETTINGS, epochs=12), (0, 1), CPU)
    rows = {row.name: row for row in found.rows}
    assert [rows[arm.name].learnt_from for arm in ARMS] == [24, 16, 8, 24]
    assert (found.n, found.clusters) == (24, 4)
    for row in found.rows:
        assert row.low <= row.mae <= row.high
        assert row.mae == pytest.approx(np.mean(row.seeds))
    assert rows["without negatives"].by_kind["full"] == 0.0, "it has seen nothing but fives"
    assert rows["without negatives"].mae == pytest.approx(rows["always 5"].mae)
    assert rows["full"].mae < rows["full, instruction alone"].mae
    table = ablation_table(found)
    assert "24 test videos of 4 houses" in table and "| 1.450 |" in table


def test_the_length_rule_finds_a_leak_if_there_is_one(splits: dict[str, Split]):
    durations = {1: 1.0, 2: 2.0, 5: 5.0}

    def leaking(split: Split) -> Split:
        return replace(split, durations_s=np.array([durations[label] for label in split.labels]))

    found = ablate({name: leaking(split) for name, split in splits.items()}, replace(SETTINGS, epochs=1), (0,), CPU)
    assert next(row.mae for row in found.rows if row.name == "clip length") == 0.0


def test_the_commands_train_and_compare(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    small = ["--size", "16", "--width", "8", "--epochs", "1", "--device", "cpu"]
    assert main(["rewards", "train", "--data", str(folder), "--out", str(tmp_path / "m"), *small]) == 0
    assert revision(tmp_path / "m") in capsys.readouterr().out
    about = json.loads((tmp_path / "m" / "model.json").read_text())
    assert about["trained_on"]["videos"] == 24
    out = tmp_path / "found.json"
    assert main(["rewards", "ablation", "--data", str(folder), "--out", str(out), "--seeds", "1", *small]) == 0
    assert "| without clipping | 16 |" in capsys.readouterr().out
    assert len(json.loads(out.read_text())["rows"]) == 10


@pytest.mark.gpu
def test_a_gpu_learns_the_same_lesson(splits: dict[str, Split]):
    gpu = torch.device("cuda")
    data = {name: split.to(gpu) for name, split in splits.items()}
    found = train(data["train"], data["val"], SETTINGS, gpu)
    assert group_mae(predict(found.network, found.words, data["test"], gpu), data["test"]) < 0.5
