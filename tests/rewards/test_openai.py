"""A model behind a server, and what comes of servers that misbehave."""

from __future__ import annotations

import base64
import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sbench_dag.errors import SetupError
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.http import Limits
from sbench_dag.rewards.models.openai import OpenAIServer
from sbench_dag.rewards.models.spend import Prices
from sbench_dag.rewards.score import Score, Status
from tests.rewards.stub_server import Reply, Stub, says, serve
from tests.rewards.videos import seen, write_video

QUICK = Limits(concurrency=1, attempts=3, timeout_s=0.3, backoff_s=0.001)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("videos") / "a.mp4")


def examples(video: Path, count: int) -> list[Example]:
    return [Example(f"e{number}", video, f"pick object {number}") for number in range(count)]


def model(stub: Stub, **changes) -> OpenAIServer:
    return OpenAIServer("stub", stub.url, "reward-1", **{"limits": QUICK, **changes})


def scored(stub: Stub, video: Path, count: int = 1, **changes) -> list[Score]:
    return list(model(stub, **changes).score(examples(video, count)))


def test_frames_are_sent_in_order_after_the_question(video: Path):
    with serve(says("ANSWER: 4")) as stub:
        (score,) = scored(stub, video)
    (request,) = stub.requests
    question, intro, *pictures = request["messages"][0]["content"]
    assert request["path"] == "/v1/chat/completions"
    assert (request["model"], request["temperature"]) == ("reward-1", 0.0)
    assert "pick object 0" in question["text"]
    assert "8 frames" in intro["text"] and "0.0, 0.7, 1.4, 2.1, 2.7, 3.4, 4.1, 4.8 s" in intro["text"]
    assert seen(np.stack([_decoded(picture) for picture in pictures])) == [0, 7, 14, 21, 27, 34, 41, 48]
    assert (score.status, score.value, score.answer) == (Status.SCORED, 4, "ANSWER: 4")


def _decoded(picture: dict) -> np.ndarray:
    head, _, content = picture["image_url"]["url"].partition(",")
    assert head == "data:image/jpeg;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


def test_a_score_stores_its_protocol(video: Path):
    with serve(says("ANSWER: 4")) as stub:
        (score,) = scored(stub, video)
        identity = model(stub).identity
    assert score.protocol.items() >= identity.items()
    assert score.protocol["frame_indices"] == [0, 7, 14, 21, 27, 34, 41, 48]
    assert score.protocol["served"] == {"model": "served-1", "finish_reason": "stop"}
    assert score.protocol["usage"] == {"prompt_tokens": 1000, "completion_tokens": 100}


def test_a_video_is_sent_as_it_is(video: Path):
    with serve(says("ANSWER: 4")) as stub:
        (score,) = scored(stub, video, media="video", body={"mm_processor_kwargs": {"fps": 2}})
    (request,) = stub.requests
    url = request["messages"][0]["content"][1]["video_url"]["url"]
    assert url == "data:video/mp4;base64," + base64.b64encode(video.read_bytes()).decode()
    assert request["mm_processor_kwargs"] == {"fps": 2}
    assert score.protocol["frames"] == "the server's"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, "boom"),
        Reply(503),
        Reply(429, "slow down"),
        Reply(429, "slow down", {"Retry-After": "soon"}),
        Reply(hang=True),
        Reply(body="<html>not JSON"),
        Reply(body="[1, 2]"),
        Reply(body='{"error": {"message": "overloaded"}}'),
        Reply(body='{"choices": []}'),
    ],
    ids=str,
)
def test_what_may_pass_is_asked_again(video: Path, reply: Reply):
    with serve(reply, reply, says("ANSWER: 2")) as stub:
        (score,) = scored(stub, video)
    assert (score.value, len(stub.requests)) == (2, 3)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(500, "boom"), "answers 500: boom, 3 times"),
        (Reply(hang=True), "does not answer within 0.3 s, 3 times"),
        (Reply(body="<html>not JSON"), "answers with no chat completion: <html>not JSON, 3 times"),
        (Reply(400, "too many tokens"), "answers 400: too many tokens"),
        (Reply(429, "quota", {"Retry-After": "0.2"}), "answers 429: quota, 3 times"),
        (Reply(429, "quota", {"Retry-After": "7200"}), "answers 429: quota, and asks to wait 7200 s"),
    ],
    ids=str,
)
def test_a_request_without_an_answer_costs_its_own_example_alone(video: Path, reply: Reply, why: str):
    times = 3 if why.endswith("3 times") else 1
    with serve(*[reply] * times, says("ANSWER: 5")) as stub:
        first, second = scored(stub, video, 2)
    assert (first.status, first.value, first.answer) == (Status.MISSING, None, None)
    assert first.why.endswith(why)
    assert (second.status, second.value) == (Status.SCORED, 5)
    assert len(stub.requests) == times + 1


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "no text"), ("", "no text"), ("I can't see a video.", "no 'ANSWER: <score>' in it"), ({"a": 1}, "no text")],
)
def test_an_answer_that_says_no_score_is_unparseable_and_not_asked_again(video: Path, content, why: str):
    with serve(says(content)) as stub:
        (score,) = scored(stub, video)
    assert (score.status, score.why, len(stub.requests)) == (Status.UNPARSEABLE, why, 1)


def test_content_in_parts_and_choices_of_the_wrong_shape(video: Path):
    parts = [{"type": "text", "text": "ANSWER: "}, {"type": "text", "text": "3"}, {"type": "other"}]
    with serve(says(parts), Reply(body='{"choices": ["x"]}')) as stub:
        first, second = scored(stub, video, 2)
    assert (first.value, second.status) == (3, Status.UNPARSEABLE)


def test_retry_after_is_heeded_in_seconds_and_as_a_date(video: Path):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    with serve(
        Reply(429, headers={"Retry-After": "0.4"}), Reply(429, headers={"Retry-After": soon}), says("1")
    ) as stub:
        (score,) = scored(stub, video)
    first, second, third = stub.times
    assert score.value == 1
    assert second - first >= 0.4
    assert third - second >= 0.3  # dates have whole seconds


def test_when_one_is_asked_to_wait_all_do(video: Path):
    with serve(Reply(429, headers={"Retry-After": "0.5"}), says("1")) as stub:
        first, second = scored(stub, video, 2, limits=replace(QUICK, attempts=1))
    assert (first.status, second.value) == (Status.MISSING, 1)
    assert stub.times[1] - stub.times[0] >= 0.5


def test_a_server_that_is_not_there_leaves_examples_missing(video: Path):
    with serve(says("1")) as stub:
        pass
    (score,) = scored(stub, video)
    assert score.status is Status.MISSING
    assert score.why.endswith("can't be reached: ConnectionError, 3 times")


def test_requests_run_side_by_side_up_to_the_limit(video: Path):
    together = threading.Barrier(3, timeout=30)
    with serve(says("1"), before=lambda: together.wait() and None) as stub:
        scores = scored(stub, video, 6, limits=replace(QUICK, concurrency=3, timeout_s=30))
    assert [score.value for score in scores] == [1] * 6
    assert stub.at_a_time == 3


def test_requests_per_minute_are_spread(video: Path):
    with serve(says("1")) as stub:
        scored(stub, video, 4, limits=replace(QUICK, concurrency=4, requests_per_minute=600))
    assert stub.times[-1] - stub.times[0] >= 0.25


def test_at_the_cap_nothing_more_is_sent(video: Path):
    """A request costs 0.0011 dollars, so nine fit under a cent."""
    prices = Prices(input_per_million=1.0, output_per_million=1.0, cap=0.01)
    with serve(says("ANSWER: 4")) as stub:
        scores = scored(stub, video, 20, prices=prices, limits=replace(QUICK, concurrency=4, timeout_s=30))
    assert len(stub.requests) == 9
    assert sum(score.status is Status.SCORED for score in scores) == 9
    assert sum(score.protocol.get("usage", {}).get("cost", 0) for score in scores) == pytest.approx(0.0099)
    missing = {score.why for score in scores if score.status is Status.MISSING}
    assert missing == {"the spend cap of $0.01 is reached: $0.0099 are spent, and a request costs up to $0.0011"}


def test_the_cap_holds_over_all_calls_of_a_model(video: Path):
    """As a worker makes them, one batch after the other."""
    prices = Prices(input_per_million=1.0, output_per_million=1.0, cap=0.01)
    with serve(says("ANSWER: 4")) as stub:
        one = model(stub, prices=prices)
        for _ in range(4):
            list(one.score(examples(video, 5)))
    assert len(stub.requests) == 9


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": 1}])
def test_a_server_that_does_not_say_what_it_uses_gets_no_second_request_under_a_cap(video: Path, usage):
    with serve(says("ANSWER: 4", usage)) as stub:
        first, second = scored(stub, video, 2, prices=Prices(1.0, 1.0, cap=1.0))
    assert (first.value, second.status, len(stub.requests)) == (4, Status.MISSING, 1)
    assert "does not say what a request used" in second.why


def test_a_missing_video_is_missing_and_nothing_is_sent(video: Path, tmp_path: Path):
    gone = Example("gone", tmp_path / "gone.mp4", "pick")
    with serve(says("ANSWER: 4")) as stub:
        for media in ("frames", "video"):
            scores: Sequence[Score] = list(model(stub, media=media).score([gone, *examples(video, 1)]))
            assert [score.status for score in scores] == [Status.MISSING, Status.SCORED]
            assert scores[0].why.startswith(f"{gone.video}: ")
    assert len(stub.requests) == 2


def test_the_key_comes_from_the_environment_and_is_stored_nowhere(video: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STUB_KEY", "s3cret")
    with serve(says("ANSWER: 4")) as stub:
        (score,) = scored(stub, video, key_env="STUB_KEY")
        assert stub.keys == ["Bearer s3cret"]
        assert "s3cret" not in f"{score}{model(stub, key_env='STUB_KEY').identity}"
        monkeypatch.delenv("STUB_KEY")
        with pytest.raises(SetupError, match="stub: the environment variable STUB_KEY must hold the API key"):
            scored(stub, video, key_env="STUB_KEY")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_every_example_would_run_into_ends_the_run(video: Path, status: int):
    with serve(Reply(status, "no such model")) as stub, pytest.raises(SetupError, match=f"{status}: no such model"):
        scored(stub, video, 5)
    assert len(stub.requests) == 1
