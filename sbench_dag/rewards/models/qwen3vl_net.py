"""A network of the Qwen3-VL family with its processor: clips and questions in, answers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sbench_dag.errors import SetupError
from sbench_dag.rewards.models.torchvision_ops import import_torchvision
from sbench_dag.rewards.score import HIGHEST, LOWEST
from sbench_dag.rewards.video import Clip

FORCED = "ANSWER: "
"""What the model is made to begin with where only the next token is read."""


@dataclass(frozen=True)
class Answer:
    """text: as generated, or as read off the digits' logits.

    cut_off: it was not at its end after as many tokens as it may have. expected: mean score over the five digits'
    probabilities. mass: their sum among all tokens' probabilities.
    """

    text: str
    cut_off: bool = False
    expected: float | None = None
    mass: float | None = None


class Qwen3VLNet:
    """Loaded weights. `prepare` may run in another thread than the two that answer."""

    def __init__(self, net: Any, processor: Any, device: str):
        from transformers import GenerationConfig

        self._net, self._processor, self._device = net, processor, device
        self._ends = _as_set(net.generation_config.eos_token_id) | _as_set(processor.tokenizer.eos_token_id)
        net.generation_config = GenerationConfig()  # `generate` would fill our own one up with the checkpoint's
        processor.tokenizer.padding_side = "left"
        if getattr(processor.video_processor, "cap_pixels_per_frame", False) is None:
            processor.video_processor.cap_pixels_per_frame = False
        self._digits = _digit_tokens(processor.tokenizer)

    @property
    def device(self) -> str:
        """What computes, for the protocol."""
        import torch

        return torch.cuda.get_device_name(self._device) if self._device.startswith("cuda") else self._device

    def prepare(self, clips: Sequence[Clip], questions: Sequence[str], forced: str = "") -> Any:
        """The network's inputs, on its device. forced: how the answer begins.

        Raises:
            ValueError: the processor takes no such video.
        """
        clips = [_even(clip) for clip in clips]
        inputs = self._processor(
            text=[self._chat(question) + forced for question in questions],
            videos=[clip.frames for clip in clips],
            video_metadata=[_metadata(clip) for clip in clips],
            do_sample_frames=False,
            padding=True,
            return_tensors="pt",
            device=self._device,
        )
        return inputs.to(self._device)

    def generate(self, inputs: Any, max_new_tokens: int) -> list[Answer]:
        """Greedy, whatever the checkpoint's generation_config says."""
        import torch
        from transformers import GenerationConfig

        tokenizer = self._processor.tokenizer
        config = GenerationConfig(
            do_sample=False,
            num_beams=1,
            max_new_tokens=max_new_tokens,
            eos_token_id=sorted(self._ends) or None,
            pad_token_id=tokenizer.pad_token_id,
        )
        with torch.inference_mode():
            tokens = self._net.generate(**inputs, generation_config=config)
        tokens = tokens[:, inputs["input_ids"].shape[1] :].cpu()
        texts = tokenizer.batch_decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        cut_off = [self._ends.isdisjoint(row) for row in tokens.tolist()]
        return [Answer(text, cut) for text, cut in zip(texts, cut_off, strict=True)]

    def read_digits(self, inputs: Any) -> list[Answer]:
        """One forward pass over inputs that end with FORCED: the most probable of the five digits comes next."""
        import torch

        with torch.inference_mode():
            logits = self._net(**inputs, logits_to_keep=1, use_cache=False).logits[:, -1].float()
            among_all = torch.softmax(logits, dim=-1)[:, self._digits].cpu().numpy().astype(float)
        values = np.arange(LOWEST, HIGHEST + 1)
        mass = among_all.sum(axis=1)
        expected = among_all @ values / mass
        best = values[among_all.argmax(axis=1)]
        return [
            Answer(f"{FORCED}{best[row]}", expected=float(expected[row]), mass=float(mass[row]))
            for row in range(len(best))
        ]

    def _chat(self, question: str) -> str:
        content = [{"type": "text", "text": question}, {"type": "video"}]
        messages = [{"role": "user", "content": content}]
        return self._processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)


def load_net(folder: Path, dtype: str, device: str) -> Qwen3VLNet:
    """
    Raises:
        SetupError: packages are missing, or the folder holds no such model.
    """
    import_torchvision()
    try:
        import torch
        from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor
    except ImportError:
        raise SetupError("this reward model needs more packages: pip install 'sbench-dag[vlm]'") from None
    try:
        kind = AutoConfig.from_pretrained(folder, local_files_only=True).model_type
        if not kind.startswith("qwen3_vl"):
            raise SetupError(f"{folder}: a model of type {kind}, not of the Qwen3-VL family")
        processor = AutoProcessor.from_pretrained(folder, local_files_only=True)
        net: Any = AutoModelForImageTextToText.from_pretrained(
            folder, local_files_only=True, dtype=getattr(torch, dtype), attn_implementation="sdpa"
        )
    except (OSError, ValueError) as error:
        raise SetupError(f"{folder}: can't be loaded: {error}") from None
    return Qwen3VLNet(net.to(device).eval(), processor, device)


def _metadata(clip: Clip) -> Any:
    """Of the source, not of the sample: the processor makes the frames' times of it."""
    from transformers.video_utils import VideoMetadata

    return VideoMetadata(
        total_num_frames=clip.source_frames,
        fps=clip.source_fps,
        duration=clip.duration_s,
        frames_indices=clip.indices.tolist(),
    )


def _even(clip: Clip) -> Clip:
    """The network sees frames in pairs and takes no single one."""
    if len(clip.frames) > 1:
        return clip
    frames, indices, times_s = (np.repeat(part, 2, axis=0) for part in (clip.frames, clip.indices, clip.times_s))
    return replace(clip, frames=frames, indices=indices, times_s=times_s)


def _digit_tokens(tokenizer: Any) -> list[int]:
    """The tokens of "1" to "5" after FORCED.

    Raises:
        SetupError: they are not one token each, so that the next token says nothing of the score.
    """
    before = tokenizer(FORCED, add_special_tokens=False).input_ids
    tokens = []
    for digit in range(LOWEST, HIGHEST + 1):
        *start, token = tokenizer(f"{FORCED}{digit}", add_special_tokens=False).input_ids
        if start != before:
            raise SetupError(f"the tokenizer makes no token of its own of the {digit} in {FORCED}{digit}")
        tokens.append(token)
    return tokens


def _as_set(tokens: int | list[int] | None) -> set[int]:
    if tokens is None:
        return set()
    return {tokens} if isinstance(tokens, int) else set(tokens)
