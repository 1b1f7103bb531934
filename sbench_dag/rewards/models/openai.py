"""A model behind a server that speaks OpenAI's chat completions: vLLM, SGLang, or a provider's own.

What a server does wrong costs its own example, which is MISSING with the reason, never a score. Only what every example
would run into (the key, the address, the model's name) is raised.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from sbench_dag.errors import SetupError
from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.http import DEFAULT_LIMITS, Failed, Limits, Poster
from sbench_dag.rewards.models.spend import Prices, Spend, SpendError
from sbench_dag.rewards.parser import parse
from sbench_dag.rewards.prompt import DEFAULT_PROMPT, Prompt
from sbench_dag.rewards.score import Score, Status
from sbench_dag.rewards.video import DEFAULT_RULE, FrameRule, VideoError, decode

_MIME = {".mp4": "video/mp4", ".mkv": "video/x-matroska", ".webm": "video/webm", ".avi": "video/x-msvideo"}


@dataclass(frozen=True)
class OpenAIServer:
    """
    url: up to and with /v1. model: as the server calls it. key_env: the environment variable that holds the API key.
    media: "frames" sends those of the rule as JPEG pictures with their times; "video" sends the file, and the server
    samples it. body: more fields of the request, e.g. {"mm_processor_kwargs": {"fps": 2}} for vLLM.
    """

    name: str
    url: str
    model: str
    key_env: str | None = None
    media: Literal["frames", "video"] = "frames"
    frames: FrameRule = DEFAULT_RULE
    prompt: Prompt = DEFAULT_PROMPT
    max_tokens: int = 1024
    temperature: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    prices: Prices | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            "model": self.name,
            "served_model": self.model,
            "url": self.url,
            "prompt": self.prompt.hash(),
            "media": self.media,
            "frames": vars(self.frames) if self.media == "frames" else "the server's",
            "decoding": {"temperature": self.temperature, "max_tokens": self.max_tokens, **self.body},
        }

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        """
        Raises:
            SetupError: the key's variable is not set, or the server refuses the key, the address or the model.
        """
        return map_ahead(self._call.score, examples, self.limits.concurrency, ahead=self.limits.concurrency)

    @cached_property
    def _call(self) -> _Call:
        """One for all calls of `score`, so that what they spend is counted together."""
        poster = Poster(f"{self.url.rstrip('/')}/chat/completions", self._key, self.limits)
        return _Call(self, poster, Spend(self.prices))

    @cached_property
    def _key(self) -> str | None:
        if self.key_env is None:
            return None
        if not (key := os.environ.get(self.key_env)):
            raise SetupError(f"{self.name}: the environment variable {self.key_env} must hold the API key")
        return key


@dataclass(frozen=True)
class _Call:
    """Scores examples, from several threads."""

    server: OpenAIServer
    poster: Poster
    spend: Spend

    def score(self, example: Example) -> Score:
        protocol = {**self.server.identity, "prompt": self.server.prompt.hash(example)}
        try:
            with self.spend.request() as bill:
                media, seen = self._media(example)
                reply = self.poster.post(self._body(example, media))
                usage = bill.pay(reply.get("usage"))
        except (VideoError, Failed, SpendError) as error:
            return Score(Status.MISSING, why=str(error), protocol=protocol)
        return replace(parse(_answer(reply)), protocol={**protocol, **seen, "usage": usage, "served": _served(reply)})

    def _body(self, example: Example, media: list[dict[str, Any]]) -> dict[str, Any]:
        content = [{"type": "text", "text": self.server.prompt.question(example)}, *media]
        return {
            "model": self.server.model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": self.server.max_tokens,
            "temperature": self.server.temperature,
            **self.server.body,
        }

    def _media(self, example: Example) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The parts of the message after the question, and what of the video they show."""
        if self.server.media == "video":
            mime = _MIME.get(example.video.suffix.lower(), "video/mp4")
            return [{"type": "video_url", "video_url": {"url": _data_url(mime, _bytes(example.video))}}], {}
        clip = decode(example.video, self.server.frames)
        times = ", ".join(f"{time:.1f}" for time in clip.times_s)
        intro = {"type": "text", "text": f"These are {len(clip.frames)} frames of the video, in order, at {times} s:"}
        return [intro, *map(_picture, clip.frames)], clip.seen


def _answer(reply: dict[str, Any]) -> str | None:
    """The text of the first choice, or None if it has none. Content may come in parts."""
    choice = reply["choices"][0]
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return content if isinstance(content, str) else None


def _served(reply: dict[str, Any]) -> dict[str, Any]:
    """What the server says of itself and of how the answer ended."""
    first = reply["choices"][0]
    said = {key: reply.get(key) for key in ("model", "system_fingerprint")}
    said["finish_reason"] = first.get("finish_reason") if isinstance(first, dict) else None
    return {key: value for key, value in said.items() if value is not None}


def _bytes(video: Path) -> bytes:
    try:
        return video.read_bytes()
    except OSError as error:
        raise VideoError(f"{video}: {error.strerror}") from None


def _picture(frame: np.ndarray) -> dict[str, Any]:
    jpeg = io.BytesIO()
    Image.fromarray(frame).save(jpeg, "JPEG", quality=95)
    return {"type": "image_url", "image_url": {"url": _data_url("image/jpeg", jpeg.getvalue())}}


def _data_url(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"
