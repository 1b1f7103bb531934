r"""How fast RoboReward's networks score videos: `python -m benchmarks.reward_models [--tiny] [--json FILE]`.

Random weights of their shapes on a GPU, real mp4 files, end to end: decoding, preprocessing, network, parsing. With
--tiny a tiny network on the CPU, to try this script.

On a machine without the package av, carry its wheel there:
    pip download av==18.1.0 --no-deps --only-binary :all: --platform manylinux_2_28_x86_64 \
        --python-version 3.12 -d .wheels
    python3 -m pip install --no-index --no-deps .wheels/*.whl
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from sbench_dag.rewards.ahead import map_ahead
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.models.qwen3vl import Qwen3VL
from sbench_dag.rewards.models.qwen3vl_net import FORCED, Qwen3VLNet
from sbench_dag.rewards.models.weights import Weights
from sbench_dag.rewards.parser import parse
from sbench_dag.rewards.prompt import DEFAULT_PROMPT
from sbench_dag.rewards.score import Score
from sbench_dag.rewards.video import decode
from tests.rewards.random_qwen3vl import EIGHT_B, FOUR_B, TINY, Shape, make_net, make_processor

_FRAMES, _FPS = 49, 10  # 4.9 s, as the example in RoboReward's paper
_WANTED = {"4b": 16.0, "8b": 11.0}
_WRITTEN = 8  # tokens; "ANSWER: 4" and its end are 6


@dataclass(frozen=True)
class _Plan:
    shapes: dict[str, Shape]
    device: str
    dtype: str
    size: tuple[int, int]
    files: int
    videos: int
    batches: tuple[int, ...]


_FULL = _Plan({"4b": FOUR_B, "8b": EIGHT_B}, "cuda", "bfloat16", (640, 480), 64, 192, (16, 32, 64))
_TRIAL = _Plan({"tiny": TINY}, "cpu", "float32", (96, 64), 4, 12, (4,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="a tiny network on the CPU")
    parser.add_argument("--shape", choices=list(_FULL.shapes), help="default: all")
    parser.add_argument("--decoders", type=int, default=max(1, min(12, (os.cpu_count() or 2) - 2)))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there too")
    arguments = parser.parse_args()
    plan = _TRIAL if arguments.tiny else _FULL
    if arguments.shape:
        plan = replace(plan, shapes={arguments.shape: plan.shapes[arguments.shape]})
    found: dict[str, Any] = {"cores": os.cpu_count(), "decoders": arguments.decoders}
    with tempfile.TemporaryDirectory(prefix="sbench-videos-") as folder:
        examples = _examples(Path(folder), plan)
        found["without a network"] = _without_network(examples, arguments.decoders)
        for name, shape in plan.shapes.items():
            found[name] = _network(name, shape, plan, examples, arguments.decoders)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def _examples(folder: Path, plan: _Plan) -> list[Example]:
    with _timed(f"made {plan.files} videos"), ThreadPoolExecutor(os.cpu_count()) as pool:
        files = list(pool.map(lambda seed: _write_video(folder / f"{seed}.mp4", seed, plan.size), range(plan.files)))
    return [Example(f"{i}", files[i % len(files)], f"put object {i} on the shelf") for i in range(plan.videos)]


def _write_video(file: Path, seed: int, size: tuple[int, int]) -> Path:
    """A coloured scene that moves, with the noise that cameras have, so that it is as hard to decode as a real one."""
    random = np.random.default_rng(seed)
    width, height = size
    scene = np.kron(random.integers(0, 255, (height // 8, width // 8, 3)), np.ones((8, 8, 1))).astype(np.int16)
    with av.open(str(file), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=_FPS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23", "threads": "1"}
        for index in range(_FRAMES):
            noise = random.integers(-6, 7, scene.shape, dtype=np.int16)
            picture = np.clip(np.roll(scene, 3 * index, axis=1) + noise, 0, 255).astype(np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, _FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file


def _without_network(examples: list[Example], decoders: int) -> dict[str, float]:
    """Videos and texts per second."""
    files = [example.video for example in examples]
    texts = ["The robot holds the cup above the shelf.\n\n**ANSWER:** 4"] * 2000
    return {
        "decoding, one thread": _rate("decoding, one thread", len(files[:32]), lambda: [decode(f) for f in files[:32]]),
        f"decoding, {decoders} threads": _rate(
            f"decoding, {decoders} threads", len(files), lambda: list(map_ahead(decode, files, decoders, 4 * decoders))
        ),
        "parsing": _rate("parsing", len(texts), lambda: [parse(text) for text in texts]),
    }


def _network(name: str, shape: Shape, plan: _Plan, examples: list[Example], decoders: int) -> dict[str, Any]:
    import torch

    processor = make_processor()
    with _timed(f"{name}: made the network"):
        loaded = Qwen3VLNet(make_net(shape, processor.tokenizer, plan.dtype, plan.device), processor, plan.device)
    model = Qwen3VL(
        name, Weights(f"random/{name}", "0" * 40), dtype=plan.dtype, decoders=decoders, max_new_tokens=_WRITTEN
    )
    found: dict[str, Any] = {"device": loaded.device, "preprocessing": _preprocessing(loaded, examples[:32], plan)}
    best: dict[str, list[Score]] = {}
    for decoding in ("digits", "generate"):
        for batch in plan.batches:
            tried = _with_net(replace(model, decoding=decoding, batch=batch), loaded)
            list(tried.score(examples[:batch]))  # the first batch of a size makes kernels and buffers
            scores: list[Score] = []
            rate = _rate(
                f"{name}: {decoding}, batch {batch}",
                len(examples),
                lambda t=tried, s=scores: s.extend(t.score(examples)),
            )
            found[f"{decoding}, batch {batch}"] = rate
            best[decoding] = scores
    if plan.device == "cuda":
        found["GPU memory, GiB"] = torch.cuda.max_memory_allocated() / 2**30
    found |= _agreement(_with_net(replace(model, decoding="digits"), loaded), best["digits"], examples[:32])
    rates = {key: value for key, value in found.items() if ", batch " in key}
    fastest = max(rates, key=lambda key: rates[key])
    wanted = f", wanted {_WANTED[name]:.0f}" if name in _WANTED else ""
    print(f"{name}: fastest is {fastest}: {rates[fastest]:.1f} videos/s{wanted}", flush=True)
    del loaded
    if plan.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return found


def _with_net(model: Qwen3VL, net: Qwen3VLNet) -> Qwen3VL:
    vars(model)["net"] = net  # instead of loading one
    return model


def _preprocessing(net: Qwen3VLNet, examples: list[Example], plan: _Plan) -> float:
    import torch

    clips = [decode(example.video) for example in examples]
    questions = [DEFAULT_PROMPT.question(example) for example in examples]

    def prepare() -> None:
        net.prepare(clips, questions)
        if plan.device == "cuda":
            torch.cuda.synchronize()

    prepare()
    return _rate("preprocessing", len(clips), prepare)


def _agreement(model: Qwen3VL, batched: list[Score], examples: list[Example]) -> dict[str, float]:
    """Of the digits in large batches with the digits one by one, and with what is written after the same beginning."""
    alone = list(_with_net(replace(model, batch=1), model.net).score(examples))
    batched = batched[: len(alone)]
    clips = [decode(example.video) for example in examples]
    inputs = model.net.prepare(clips, [DEFAULT_PROMPT.question(example) for example in examples], FORCED)
    written = [parse(f"{FORCED}{answer.text}").value for answer in model.net.generate(inputs, 1)]
    found = {
        "same score batched and alone": np.mean([a.value == b.value for a, b in zip(batched, alone, strict=True)]),
        "largest difference of the mean score": max(
            abs((a.expected or 0) - (b.expected or 0)) for a, b in zip(batched, alone, strict=True)
        ),
        "same score read and written": np.mean([a.value == w for a, w in zip(batched, written, strict=True)]),
    }
    for what, number in found.items():
        print(f"{model.name}: {what}: {number:.4f}", flush=True)
    return {what: float(number) for what, number in found.items()}


def _rate(what: str, count: int, work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    rate = count / (time.perf_counter() - began)
    print(f"{what}: {rate:.1f}/s", flush=True)
    return round(rate, 2)


@contextmanager
def _timed(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(f"{what} in {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
