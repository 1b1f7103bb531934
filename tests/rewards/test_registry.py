"""Reward models by name, and what is wrong with a settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.clip_length import ClipLength
from sbench_dag.rewards.models.constant import Constant
from sbench_dag.rewards.models.openai import OpenAIServer
from sbench_dag.rewards.models.qwen3vl import Qwen3VL
from sbench_dag.rewards.models.registry import model_names, reward_model
from sbench_dag.rewards.models.spend import Prices
from sbench_dag.rewards.score import LABELS, Status
from sbench_dag.rewards.video import FrameRule
from tests.rewards.videos import write_video

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FULL = f"""
[short]
kind = "clip-length"
thresholds_s = [0.5, 1, 2.5, inf]

[gpt]
kind = "openai"
url = "https://api.example.com/v1"
model = "gpt-5-mini"
api_key_env = "OPENAI_API_KEY"
prompt = "prompt.txt"
frames = {{ fps = 1, at_most = 16 }}
requests_per_minute = 100
body = {{ reasoning_effort = "low" }}
spend = {{ input_per_million = 0.25, output_per_million = 2, cap = 5 }}

[roboreward-4b]
kind = "qwen3vl"
weights = "teetone/RoboReward-4B"
revision = "{COMMIT}"
decoding = "digits"

[helm]
kind = "stored"
file = "scores.csv"
model = "b"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "prompt.txt").write_text("How far did it get with {task}?")
    return tmp_path


def write(home: Path, text: str) -> Path:
    (file := home / "reward_models.toml").write_text(text)
    return file


def test_models_that_are_built_in_need_no_file(home: Path):
    assert reward_model("constant-3", home) == Constant(3)
    model = reward_model(f"roboreward-8b@{COMMIT}", home)
    assert isinstance(model, Qwen3VL)
    assert (model.identity["weights"], model.identity["revision"]) == ("teetone/RoboReward-8B", COMMIT)


def test_tables_are_models(home: Path):
    write(home, FULL)
    assert reward_model("short", home) == ClipLength((0.5, 1, 2.5, float("inf")), name="short")
    gpt = reward_model("gpt", home)
    assert isinstance(gpt, OpenAIServer)
    assert (gpt.model, gpt.key_env, gpt.body) == ("gpt-5-mini", "OPENAI_API_KEY", {"reasoning_effort": "low"})
    assert gpt.frames == FrameRule(fps=1, at_least=4, at_most=16)
    assert gpt.prices == Prices(0.25, 2, cap=5)
    assert gpt.limits.requests_per_minute == 100
    assert gpt.prompt.question(Example("a", Path("a.mp4"), "the cup")) == "How far did it get with the cup?"


def test_a_table_goes_before_what_is_built_in(home: Path):
    write(home, FULL)
    model = reward_model("roboreward-4b", home)
    assert isinstance(model, Qwen3VL)
    assert (model.decoding, model.weights.revision) == ("digits", COMMIT)
    assert {"constant-1", "gpt", "helm", "roboreward-8b", "short"} < set(model_names(home))


def test_stored_scores_are_a_model(home: Path):
    write(home, FULL)
    (home / "scores.csv").write_text("model,id,value\na,e1,1\nb,e1,4\n")
    one, two = (Example(name, home / "none.mp4", "pick") for name in ("e1", "e2"))
    model = reward_model("helm", home)
    assert [(score.status, score.value) for score in model.score([two, one])] == [
        (Status.MISSING, None),
        (Status.SCORED, 4),
    ]
    before = dict(model.identity)
    (home / "scores.csv").write_text("model,id,value\na,e1,1\nb,e1,5\n")
    assert dict(model.identity) != before


def test_stored_scores_of_several_models_need_a_choice(home: Path):
    write(home, '[helm]\nkind = "stored"\nfile = "scores.csv"\n')
    with pytest.raises(SetupError, match=r"helm: .*scores\.csv: no predictions there"):
        _ = reward_model("helm", home).identity
    (home / "scores.csv").write_text("model,id,value\na,e1,1\nb,e1,4\n")
    with pytest.raises(SetupError, match=r"helm: model = None: .*scores\.csv holds a, b"):
        list(reward_model("helm", home).score([Example("e1", home / "none.mp4", "pick")]))


def test_a_name_that_is_none_lists_those_there_are(home: Path):
    write(home, FULL)
    with pytest.raises(SetupError, match=r"gpt-9: no such reward model; there are clip-length, .*gpt, .*short.*toml"):
        reward_model("gpt-9", home)


@pytest.mark.parametrize("name", ["clip-length", "small"])
def test_trained_models_are_there_without_any_file(home: Path, name: str):
    model = reward_model(name, home)
    assert name in model_names(home) and model.identity["model"] == name
    [score] = model.score([Example("a", write_video(home / "a.mp4"), "Pick up the mug")])
    assert score.status is Status.SCORED and score.value in LABELS


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a", "not valid TOML"),
        ('[a]\nurl = "x"', r"a: Unable to extract tag using discriminator 'kind'"),
        ('[a]\nkind = "gpt"', r"a: Input tag 'gpt' .*'clip-length', 'stored', 'small', 'openai', 'qwen3vl', 'python'"),
        ('[a]\nkind = "openai"\nurl = "http://x"', r"a\.openai\.model: Field required"),
        ('[a]\nkind = "openai"\nurl = "x"\nmodel = "m"', r"a\.openai\.url = 'x': must begin with http:// or https://"),
        ('[a]\nkind = "stored"\nfile = 3', r"a\.stored\.file = 3: Input should be a valid string"),
        ('[a]\nkind = "clip-length"\nthresholds_s = [2, 1, 3, 4]', "must be four ascending numbers of seconds"),
        ('[a]\nkind = "qwen3vl"\nweights = "o/n"\nrevision = "main"', r"a\.qwen3vl\.revision = 'main'"),
        ('[a]\nkind = "qwen3vl"\nweights = "o/n"', r"a\.revision = None: o/n is no folder.*40 hex digits"),
        ('[a]\nkind = "qwen3vl"\nweights = "o/n"\ndecoding = "beam"', r"decoding = 'beam': .*'generate' or 'digits'"),
        (
            '[a]\nkind = "openai"\nurl = "http://x"\nmodel = "m"\nframes = { at_least = 9 }',
            r"at_least = 9 is more than at_most = 8",
        ),
        (
            '[a]\nkind = "openai"\nurl = "http://x"\nmodel = "m"\nprompt = "gone.txt"',
            r"gone\.txt: prompt .*can't be read",
        ),
    ],
)
def test_what_is_wrong_is_named(home: Path, text: str, problem: str):
    write(home, text)
    with pytest.raises(InputError, match=problem):
        reward_model("a", home)


@pytest.mark.parametrize(
    "text",
    [
        'kind = "openai"\nurl = "http://x"\nmodel = "m"\napi_key = "s3cret"',
        'kind = "openia"\nurl = "http://x"\nmodel = "m"\napi_key = "s3cret"',
        'url = "http://x"\nmodel = "m"\napi_key = "s3cret"',
        'kind = "openai"\nurl = "http://user:s3cret@x"\nmodel = "m"',
    ],
)
def test_no_error_shows_a_secret_in_the_wrong_place(home: Path, text: str):
    write(home, f"[a]\n{text}")
    with pytest.raises(InputError) as error:
        reward_model("a", home)
    assert "s3cret" not in str(error.value)
