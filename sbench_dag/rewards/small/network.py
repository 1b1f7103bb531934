"""A convolutional network that looks at frames in the light of an instruction."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from sbench_dag.rewards.score import HIGHEST, LOWEST
from sbench_dag.rewards.small.frames import FRAMES

_TEXT, _FRAME = 64, 64
_THRESHOLDS = HIGHEST - LOWEST


class Network(nn.Module):
    """words: size of the vocabulary. width: channels of the first layer; the others have two to four times as many."""

    def __init__(self, words: int, width: int):
        super().__init__()
        self.embed = nn.Embedding(words, 32, padding_idx=0)
        self.read = nn.GRU(32, _TEXT, batch_first=True)
        channels = [_INPUTS, width, 2 * width, 3 * width, 4 * width]
        self.see = nn.ModuleList(_Layer(inputs, outputs) for inputs, outputs in pairwise(channels))
        self.where = nn.Linear(_TEXT, 4 * width)
        self.sum_up = nn.Linear(8 * width, _FRAME)
        self.judge = nn.Sequential(
            nn.Linear(FRAMES * _FRAME + _TEXT, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, _THRESHOLDS)
        )

    def forward(self, frames: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """frames (B, FRAMES, 3, S, S) uint8, words (B, L) -> (B, 4) logits of `more than 1`, ... `more than 4`."""
        text = self._understand(words)
        pictures = _channels(frames).flatten(0, 1)
        each = text.repeat_interleave(FRAMES, dim=0)
        for layer in self.see:
            pictures = layer(pictures, each)
        seen = self.sum_up(self._pool(pictures, each)).relu()
        return self.judge(torch.cat([seen.view(len(frames), -1), text], dim=1))

    def _understand(self, words: torch.Tensor) -> torch.Tensor:
        outputs, _ = self.read(self.embed(words))
        there = (words > 0).unsqueeze(-1)
        return (outputs * there).sum(dim=1) / there.sum(dim=1)

    def _pool(self, pictures: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        """What is where the instruction makes it look, and the strongest of everything."""
        spots = pictures.flatten(2)
        weights = torch.einsum("bcs,bc->bs", spots, self.where(text)).softmax(dim=1)
        return torch.cat([torch.einsum("bcs,bs->bc", spots, weights), spots.amax(dim=2)], dim=1)


def probabilities(logits: torch.Tensor) -> torch.Tensor:
    """(B, 4) that the label is more than 1, ..., more than 4."""
    return logits.sigmoid()


def scores(above: torch.Tensor) -> torch.Tensor:
    """(B,) 1 to 5: the median of what it thinks possible, which has the least absolute error."""
    return LOWEST + (above > 0.5).sum(dim=1)


def targets(labels: torch.Tensor) -> torch.Tensor:
    """(B,) labels -> (B, 4): 1.0 where the label is above the threshold."""
    return (labels[:, None] > torch.arange(LOWEST, HIGHEST, device=labels.device)).float()


class _Layer(nn.Module):
    """Half the size; the instruction scales and shifts every channel."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(8, outputs)
        self.modulate = nn.Linear(_TEXT, 2 * outputs)

    def forward(self, pictures: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        scale, shift = self.modulate(text)[:, :, None, None].chunk(2, dim=1)
        return (self.norm(self.convolve(pictures)) * (1 + scale) + shift).relu()


_INPUTS = 8


def _channels(frames: torch.Tensor) -> torch.Tensor:
    """(B, F, 8, S, S): colours, how they differ from the first frame's, and where in the picture it is."""
    colours = frames.float() / 255 - 0.5
    size = frames.shape[-1]
    along = torch.linspace(-1, 1, size, device=frames.device)
    grid = torch.stack(torch.meshgrid(along, along, indexing="ij")).expand(*frames.shape[:2], 2, size, size)
    return torch.cat([colours, colours - colours[:, :1], grid], dim=2)
