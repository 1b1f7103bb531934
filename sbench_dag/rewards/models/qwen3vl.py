"""RoboReward and other models of the Qwen3-VL family, run here by transformers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, Literal

from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.qwen3vl_net import FORCED, Answer, Qwen3VLNet, load_net
from sbench_dag.rewards.models.weights import Weights
from sbench_dag.rewards.parser import parse
from sbench_dag.rewards.prompt import DEFAULT_PROMPT, Prompt
from sbench_dag.rewards.score import Score, Status
from sbench_dag.rewards.video import DEFAULT_RULE, Clip, FrameRule, VideoError, decode

_LIBRARIES = ("torch", "torchvision", "transformers", "av")


@dataclass(frozen=True)
class _Shown:
    """An example with what there is to see of it, or why there is nothing."""

    example: Example
    clip: Clip | None
    why: str = ""


@dataclass(frozen=True)
class Qwen3VL:
    """
    decoding: "generate" lets the model write, greedily, up to max_new_tokens; "digits" makes it begin with "ANSWER: "
    and reads how probable each of the five digits is next, in one pass, which gives `Score.expected` too.
    batch: videos at a time. decoders: threads that decode videos meanwhile. device: e.g. "cuda", "cpu"; None takes a
    GPU if there is one.
    """

    name: str
    weights: Weights
    decoding: Literal["generate", "digits"] = "generate"
    max_new_tokens: int = 16
    frames: FrameRule = DEFAULT_RULE
    prompt: Prompt = DEFAULT_PROMPT
    dtype: str = "bfloat16"
    batch: int = 16
    decoders: int = 8
    device: str | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """Sums in a batch are not exactly those of one by one, so scores at the edge may differ by `batch`."""
        return self._identity

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        decoding = {"kind": "generate", "greedy": True, "max_new_tokens": self.max_new_tokens}
        return {
            "model": self.name,
            **self.weights.identity,
            "prompt": self.prompt.hash(),
            "order": "question, video",
            "frames": vars(self.frames),
            "decoding": decoding if self.decoding == "generate" else {"kind": "digits", "forced": FORCED},
            "dtype": self.dtype,
            "versions": {library: _version(library) for library in _LIBRARIES},
        }

    def score(self, examples: Sequence[Example]) -> Iterator[Score]:
        """
        Raises:
            SetupError: the weights or packages are missing.
        """
        shown = map_ahead(self._show, examples, self.decoders, ahead=4 * self.batch + self.decoders)
        prepared = map_ahead(self._prepare, _batches(shown, self.batch), threads=1, ahead=2)
        for batch, inputs in prepared:
            yield from self._scores(batch, inputs)

    @cached_property
    def net(self) -> Qwen3VLNet:
        """Loaded when it is first needed."""
        import torch

        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        return load_net(self.weights.folder(), self.dtype, device)

    def _show(self, example: Example) -> _Shown:
        try:
            return _Shown(example, decode(example.video, self.frames))
        except VideoError as error:
            return _Shown(example, None, str(error))

    def _prepare(self, batch: list[_Shown]) -> tuple[list[_Shown], Any]:
        """The batch with its inputs, or with None where it has no clip or one that the processor does not take."""
        try:
            return batch, self._inputs([shown for shown in batch if shown.clip])
        except ValueError:
            return batch, None

    def _inputs(self, shown: list[_Shown]) -> Any:
        if not shown:
            return None
        forced = FORCED if self.decoding == "digits" else ""
        questions = [self.prompt.question(each.example) for each in shown]
        return self.net.prepare([each.clip for each in shown if each.clip], questions, forced)

    def _scores(self, batch: list[_Shown], inputs: Any) -> Iterator[Score]:
        answers = iter(self._answers([shown for shown in batch if shown.clip], inputs))
        for shown in batch:
            yield self._as_score(shown, next(answers) if shown.clip else shown.why)

    def _answers(self, shown: list[_Shown], inputs: Any) -> Sequence[Answer | str]:
        """An answer, or why there is none, for each. A batch that fails as a whole is done one by one."""
        if not shown:
            return []
        import torch

        try:
            return self._run(self._inputs(shown) if inputs is None else inputs)
        except (ValueError, torch.OutOfMemoryError) as error:
            if len(shown) == 1:
                return [f"{shown[0].example.video}: the model does not take it: {error}"]
        return [answer for one in shown for answer in self._answers([one], None)]

    def _run(self, inputs: Any) -> list[Answer]:
        if self.decoding == "digits":
            return self.net.read_digits(inputs)
        return self.net.generate(inputs, self.max_new_tokens)

    def _as_score(self, shown: _Shown, answer: Answer | str) -> Score:
        seen = shown.clip.seen if shown.clip else {}
        protocol = {**self.identity, "prompt": self.prompt.hash(shown.example), **seen}
        if isinstance(answer, str):
            return Score(Status.MISSING, why=answer, protocol=protocol)
        protocol["device"] = self.net.device
        if answer.cut_off:
            protocol["cut_off"] = True
        if answer.mass is not None:
            protocol["mass"] = round(answer.mass, 6)
        return replace(parse(answer.text), expected=answer.expected, protocol=protocol)


def _batches(items: Iterable[_Shown], size: int) -> Iterator[list[_Shown]]:
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
