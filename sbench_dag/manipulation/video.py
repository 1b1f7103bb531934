"""Videos of rollouts: h264, as long as the simulated time."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

FPS = 15


class VideoWriter:
    """Writes frames beside the final file and renames it when it is whole."""

    def __init__(self, file: Path, width: int, height: int):
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        self._fresh = file.with_name(f".{os.getpid()}.{file.name}")
        self._container = av.open(str(self._fresh), "w", format="mp4", options={"movflags": "faststart"})
        self._stream = self._container.add_stream("libx264", rate=FPS)
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv420p"
        # one thread: the bytes must not depend on how many cores there are
        self._stream.options = {"preset": "veryfast", "crf": "23", "threads": "1"}
        self._frames = 0

    def due(self, time_s: float) -> bool:
        """Whether the next frame's time has come."""
        return time_s >= self._frames / FPS - 1e-9

    def write(self, rgb: np.ndarray) -> None:
        """One frame (height, width, 3), uint8."""
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
        frame.pts, frame.time_base = self._frames, Fraction(1, FPS)
        self._frames += 1
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def close(self) -> None:
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()
        self._fresh.replace(self._file)

    def discard(self) -> None:
        self._container.close()
        self._fresh.unlink(missing_ok=True)


def video_duration_s(file: Path) -> float:
    """Seconds that a video lasts; raises av.error.FFmpegError if it is damaged."""
    with av.open(str(file)) as container:
        stream = container.streams.video[0]
        if stream.duration is None or stream.time_base is None:
            raise ValueError(f"{file}: no duration")
        return float(stream.duration * stream.time_base)
