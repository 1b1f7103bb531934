"""A data set of tiny videos whose label can be seen: the lighter the last frame, the higher; and one word matters."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

SIDE = 32


def write_video(file: Path, last: int, frames: int = 20) -> Path:
    """Grey, from black to the brightness `last`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(file), "w") as container:
        stream = container.add_stream("libx264", rate=15)
        stream.width, stream.height, stream.pix_fmt = SIDE, SIDE, "yuv420p"
        for index in range(frames):
            picture = np.full((SIDE, SIDE, 3), last * index // (frames - 1), np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = index, Fraction(1, 15)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file


def write_dataset(folder: Path, per_split: int = 24) -> Path:
    """Half of the videos are dark (2) and half light (5); asked for something else, any of them is a 1."""
    for split in ("train", "val", "test"):
        lines = []
        for number in range(per_split):
            light, other = number % 2 == 1, number % 3 == 2
            name = f"grey/grey_index_{number % 4}_{number}.mp4"
            write_video(folder / split / name, 220 if light else 40, frames=12 + number % 5)
            lines.append(
                {
                    "file_name": name,
                    "task": "Pick up the mug" if other else "Pick up the bowl",
                    "reward": 1 if other else 5 if light else 2,
                    "kind": "counterfactual" if other else "full" if light else "clip",
                }
            )
        file = folder / split / "metadata.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
