"""Small videos whose frame i can be told from all others, in many containers, some of them damaged on purpose."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT = 96, 64
_STEP = 5


def write_video(
    file: Path,
    frames: int = 49,
    fps: int = 10,
    codec: str = "libx264",
    movflags: str = "",
    times: list[int] | None = None,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    order: list[int] | None = None,
) -> Path:
    """Grey frames, frame i of brightness 5 i (up to 51 frames). times: of the frames, in ticks of 1/fps.

    order: which picture each frame shows.
    """
    with av.open(str(file), "w", options={"movflags": movflags} if movflags else {}) as container:
        stream = container.add_stream(codec, rate=fps)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.options = {"crf": "10", "bf": "2"} if codec == "libx264" else {"qmin": "1", "qmax": "1"}
        for index in range(frames):
            brightness = min(_STEP * (order or range(frames))[index], 255)
            picture = np.full((size[1], size[0], 3), brightness, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = (times or range(frames))[index], Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return file


def seen(frames: np.ndarray) -> list[int]:
    """Which frames (T, H, W, 3) these are, by their brightness."""
    return [round(float(frame.mean()) / _STEP) for frame in frames]


def patch(file: Path, box: bytes, offset: int, value: bytes) -> Path:
    """Overwrites what stands `offset` bytes after the name of a box or chunk."""
    content = bytearray(file.read_bytes())
    at = content.index(box) + len(box) + offset
    content[at : at + len(value)] = value
    file.write_bytes(content)
    return file


def cut(file: Path, by: int = 300) -> Path:
    """Drops the last bytes, as a copy that was broken off."""
    file.write_bytes(file.read_bytes()[:-by])
    return file
