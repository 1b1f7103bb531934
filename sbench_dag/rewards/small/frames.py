"""The few small frames that the model looks at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import interpolate

from sbench_dag.rewards.video import Clip, FrameRule, decode

BEFORE_END_S = (3.2, 1.6, 0.8, 0.4, 0.2, 0.0)
FRAMES = 1 + len(BEFORE_END_S)


@dataclass(frozen=True)
class TowardsTheEnd(FrameRule):
    """The first frame, and more the closer to the end, where a rollout is decided; always as many."""

    def indices(self, frames: int, duration_s: float) -> np.ndarray:
        from_end = np.array(BEFORE_END_S) * frames / duration_s
        return np.concatenate([[0], np.maximum(0, frames - 1 - from_end.round())]).astype(int)


RULE = TowardsTheEnd()


def look(video: Path, size: int) -> tuple[torch.Tensor, Clip]:
    """(FRAMES, 3, size, size) uint8, and what they were made from.

    Raises:
        VideoError: the video can't be decoded.
    """
    clip = decode(video, RULE)
    pictures = torch.from_numpy(clip.frames).permute(0, 3, 1, 2).float()
    return interpolate(pictures, size=(size, size), mode="area").round().to(torch.uint8), clip
