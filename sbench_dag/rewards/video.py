"""The frames of a video that a reward model sees.

Frames are counted by decoding: headers of fragmented mp4 and mkv say nothing, and others may lie. Only sampled frames
are converted to RGB and kept, so a long video needs no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import av.container
import av.error
import numpy as np

from sbench_dag.errors import SbenchError


class VideoError(SbenchError):
    """A video can't be decoded; the text names the file."""


@dataclass(frozen=True)
class FrameRule:
    """How many frames: `fps` a second, but at_least (where the video has as many) and at_most. They are spread evenly
    from the first frame to the last, both included."""

    fps: float = 2.0
    at_least: int = 4
    at_most: int = 8

    def indices(self, frames: int, duration_s: float) -> np.ndarray:
        """Indices (T,) into a video of so many frames."""
        count = min(max(int(duration_s * self.fps), self.at_least), self.at_most, frames)
        if count == 1:
            return np.array([frames - 1])
        return np.linspace(0, frames - 1, count).round().astype(int)


DEFAULT_RULE = FrameRule()


@dataclass(frozen=True)
class Clip:
    """What was sampled of a video.

    frames: (T, H, W, 3) uint8 RGB. indices: (T,), their places among the source's frames. times_s: (T,), since the
    source's first frame. source_fps: its mean, by its frames' times. duration_s: source_frames / source_fps.
    """

    frames: np.ndarray
    indices: np.ndarray
    times_s: np.ndarray
    source_fps: float
    source_frames: int
    duration_s: float

    @property
    def seen(self) -> dict[str, Any]:
        """What a score's protocol says of it, as JSON."""
        return {
            "frame_indices": self.indices.tolist(),
            "frame_times_s": [round(time, 4) for time in self.times_s.tolist()],
            "source_fps": round(self.source_fps, 4),
            "source_frames": self.source_frames,
        }


def decode(file: Path, rule: FrameRule = DEFAULT_RULE) -> Clip:
    """
    Raises:
        VideoError: there is no such file, it is no video, is damaged, or has no frames.
    """
    try:
        guess = _guess(file, rule)
        read = _read(file, guess)
        wanted = rule.indices(read.count, read.duration_s)
        if not read.frames.keys() >= set(wanted.tolist()):
            read = _read(file, wanted.tolist())
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise VideoError(f"{file}: {_reason(error)}") from None
    return Clip(
        frames=np.stack([read.frames[index] for index in wanted.tolist()]),
        indices=wanted,
        times_s=read.times_s[wanted],
        source_fps=read.fps,
        source_frames=read.count,
        duration_s=read.duration_s,
    )


@dataclass(frozen=True)
class _Read:
    """One pass over a video: the frames that were asked for, as far as there are any, and every frame's time."""

    frames: dict[int, np.ndarray]
    times_s: np.ndarray
    fps: float

    @property
    def count(self) -> int:
        return len(self.times_s)

    @property
    def duration_s(self) -> float:
        return self.count / self.fps


def _guess(file: Path, rule: FrameRule) -> list[int]:
    """The frames that will be wanted if the header is right; if it is not, a second pass is needed."""
    with av.open(str(file)) as container:
        stream = _video(container)
        frames = stream.frames or sum(packet.size > 0 for packet in container.demux(stream))
        fps = float(stream.average_rate or stream.guessed_rate or 0)
    return rule.indices(frames, frames / fps).tolist() if frames and fps else []


def _read(file: Path, wanted: Collection[int]) -> _Read:
    wanted, frames, times = set(wanted), {}, []
    with av.open(str(file)) as container:
        stream = _video(container)
        stream.codec_context.thread_count = 1  # videos are decoded side by side
        for frame in container.decode(stream):
            if len(times) in wanted:
                frames[len(times)] = frame.to_ndarray(format="rgb24", width=stream.width, height=stream.height)
            times.append(frame.time)
        rate = float(stream.average_rate or stream.guessed_rate or 1)
    if not times:
        raise ValueError("no frames")
    return _Read(frames, *_timeline(times, rate))


def _timeline(times: list[float | None], rate: float) -> tuple[np.ndarray, float]:
    """Seconds since the first frame, and frames per second. rate: what the header says, for frames without times."""
    if None not in times:
        since = np.asarray(times, dtype=float) - float(times[0] or 0)
        if len(since) > 1 and (np.diff(since) > 0).all():
            return since, (len(since) - 1) / float(since[-1])
    return np.arange(len(times)) / rate, rate


def _video(container: av.container.InputContainer) -> av.VideoStream:
    if not container.streams.video:
        raise ValueError("no video in it")
    return container.streams.video[0]


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, av.error.FFmpegError):
        return f"can't be decoded: {error.strerror}"
    return str(error)
