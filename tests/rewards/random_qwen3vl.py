"""Qwen3-VL networks of random weights, tiny or of real shape, with the processor and files that a checkpoint has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbench_dag.rewards.models.torchvision_ops import import_torchvision
from sbench_dag.rewards.prompt import DEFAULT_PROMPT

_SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}"
    "{% if part.type == 'video' %}<|vision_start|><|video_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Shape:
    """words: as many as the tokenizer has, if None. text, vision: what of the configuration is not as in all shapes."""

    words: int | None
    text: dict[str, Any]
    vision: dict[str, Any]
    tied: bool = True


TINY = Shape(
    words=None,
    text={
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2]},
    },
    vision={
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0],
    },
)
_LARGE = {
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rope_parameters": {"rope_type": "default", "rope_theta": 5e6, "mrope_section": [24, 20, 20]},
}
FOUR_B = Shape(
    words=151_936,
    text={**_LARGE, "hidden_size": 2560, "intermediate_size": 9728},
    vision={
        "depth": 24,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_heads": 16,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [5, 11, 17],
    },
)
EIGHT_B = Shape(
    words=151_936,
    text={**_LARGE, "hidden_size": 4096, "intermediate_size": 12_288},
    vision={
        "depth": 27,
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_heads": 16,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [8, 16, 24],
    },
    tied=False,
)


def make_net(shape: Shape, tokenizer: Any, dtype: str = "float32", device: str = "cpu", seed: int = 0) -> Any:
    """A network whose greedy answer begins with a digit, so that there is something to parse and to compare."""
    import_torchvision()
    import torch
    from transformers import AutoModelForImageTextToText, Qwen3VLConfig

    token = tokenizer.convert_tokens_to_ids
    text = {
        **shape.text,
        "rope_parameters": {**shape.text["rope_parameters"], "mrope_interleaved": True},
        "vocab_size": shape.words or len(tokenizer),
        "max_position_embeddings": 8192,
        "eos_token_id": token("<|im_end|>"),
        "pad_token_id": token("<|endoftext|>"),
        "tie_word_embeddings": shape.tied,
    }
    config = Qwen3VLConfig(
        text_config=text,
        vision_config={**shape.vision, "out_hidden_size": text["hidden_size"], "patch_size": 16},
        image_token_id=token("<|image_pad|>"),
        video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"),
        vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=shape.tied,
    )
    torch.manual_seed(seed)
    with torch.device(device):
        net = AutoModelForImageTextToText.from_config(config, dtype=getattr(torch, dtype), attn_implementation="sdpa")
    with torch.no_grad():
        if shape is TINY:  # far enough from uniform that answers are no coin flips
            for weight in net.parameters():
                weight.mul_(2.0)
        # of opposite rows one is ahead, so what it writes is digits
        rows, digits = net.get_output_embeddings().weight, [token(digit) for digit in "12345"]
        rows[digits] *= 40.0
        rows[digits[3:]] = -rows[digits[:2]]
    return net.eval()


def make_processor() -> Any:
    import_torchvision()
    from transformers import Qwen2VLImageProcessor, Qwen3VLProcessor, Qwen3VLVideoProcessor

    size = {"shortest_edge": 4096, "longest_edge": 25_165_824}
    return Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16),
        tokenizer=_tokenizer(),
        video_processor=Qwen3VLVideoProcessor(size=size, patch_size=16),
        chat_template=_TEMPLATE,
    )


def write_tiny_qwen3vl(folder: Path) -> Path:
    """The generation_config asks for sampling, as those of real checkpoints do."""
    processor = make_processor()
    make_net(TINY, processor.tokenizer).save_pretrained(folder)
    processor.save_pretrained(folder)
    end = processor.tokenizer.convert_tokens_to_ids("<|im_end|>")
    asked = {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 5.0}
    (folder / "generation_config.json").write_text(json.dumps({**asked, "eos_token_id": [end]}))
    return folder


def _tokenizer() -> Any:
    """Makes about as many tokens of our prompt as a real one, and one of each digit."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\d| ?[^\s\d]+|\s+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    inner.train_from_iterator([DEFAULT_PROMPT.template] * 2, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens={"video_token": "<|video_pad|>", "image_token": "<|image_pad|>"},
    )
    tokenizer.add_special_tokens({"additional_special_tokens": _SPECIAL})
    return tokenizer
