"""A Qwen3-VL of some 200,000 random parameters, with the files that a real checkpoint has."""

from __future__ import annotations

import json
import string
from pathlib import Path

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


def write_tiny_qwen3vl(folder: Path, seed: int = 0) -> Path:
    """The generation_config asks for sampling, as those of real checkpoints do."""
    from sbench_dag.rewards.models.torchvision_ops import import_torchvision

    import_torchvision()
    import torch
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    tokenizer = _tokenizer()
    token = tokenizer.convert_tokens_to_ids
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 4096,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10_000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
            "eos_token_id": token("<|im_end|>"),
            "pad_token_id": token("<|endoftext|>"),
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": 64,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=token("<|image_pad|>"),
        video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"),
        vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    net = Qwen3VLForConditionalGeneration(config)
    with torch.no_grad():
        for weight in net.parameters():  # far enough from uniform that answers are no coin flips
            weight.mul_(2.0)
        # of opposite rows one is ahead, so what it writes is digits
        words, digits = net.get_input_embeddings().weight, [token(digit) for digit in "12345"]
        words[digits] *= 40.0
        words[digits[3:]] = -words[digits[:2]]
    net.save_pretrained(folder)
    size = {"shortest_edge": 4096, "longest_edge": 25_165_824}
    Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(size=size, patch_size=16),
        chat_template=_TEMPLATE,
    ).save_pretrained(folder)
    generation = {
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.8,
        "repetition_penalty": 5.0,
        "eos_token_id": [token("<|im_end|>")],
    }
    (folder / "generation_config.json").write_text(json.dumps(generation))
    return folder


def _tokenizer():
    """Bytes as tokens, so that anything can be said, and digits are tokens of their own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    assert set(string.digits) <= set(alphabet)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens={"video_token": "<|video_pad|>", "image_token": "<|image_pad|>"},
    )
    tokenizer.add_special_tokens({"additional_special_tokens": _SPECIAL})
    return tokenizer
