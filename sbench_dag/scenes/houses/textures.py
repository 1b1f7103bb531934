"""Pictures for floors and furniture, drawn pixel by pixel."""

from __future__ import annotations

import numpy as np

_SIZE = 128
Rgb = tuple[float, float, float]


def planks(rng: np.random.Generator, colour: Rgb) -> np.ndarray:
    """Four boards side by side with joints at random places: uint8 (128, 128, 3)."""
    shade = np.ones((_SIZE, _SIZE))
    width = _SIZE // 4
    for board in range(4):
        rows = slice(board * width, (board + 1) * width)
        joint = int(rng.integers(_SIZE))
        shade[rows] *= _grain(rng, width)
        shade[rows, :joint] *= rng.uniform(0.92, 1.0)
        shade[rows, joint:] *= rng.uniform(0.92, 1.0)
        shade[board * width] *= 0.72
        shade[rows, joint] *= 0.72
    return _paint(shade, colour)


def tiles(rng: np.random.Generator, colour: Rgb) -> np.ndarray:
    """2 x 2 tiles with light joints."""
    shade = np.ones((_SIZE, _SIZE))
    half = _SIZE // 2
    for i in (0, 1):
        for j in (0, 1):
            shade[i * half : (i + 1) * half, j * half : (j + 1) * half] *= rng.uniform(0.94, 1.0)
    shade *= 1.0 + 0.015 * rng.standard_normal((_SIZE, _SIZE))
    for line in (0, 1, half, half + 1):
        shade[line], shade[:, line] = 0.80, 0.80
    return _paint(shade, colour)


def carpet(rng: np.random.Generator, colour: Rgb) -> np.ndarray:
    return _paint(1.0 + 0.05 * rng.standard_normal((_SIZE, _SIZE)), colour)


def wood(rng: np.random.Generator, colour: Rgb) -> np.ndarray:
    return _paint(_grain(rng, _SIZE), colour)


def rug(rng: np.random.Generator, colour: Rgb) -> np.ndarray:
    """A border and stripes, to be stretched over the whole rug."""
    shade = 1.0 + 0.04 * rng.standard_normal((_SIZE, _SIZE))
    edge = np.minimum.outer(_to_edge(), _to_edge())
    shade[(edge > 6) & (edge < 11)] *= 1.25
    shade[:, (np.arange(_SIZE) // 8) % 4 == 1] *= 0.90
    return _paint(shade, colour)


def _to_edge() -> np.ndarray:
    at = np.arange(_SIZE)
    return np.minimum(at, _SIZE - 1 - at)


def _grain(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Streaks along x, (rows, 128)."""
    streaks = 1.0 + 0.05 * rng.standard_normal((rows, 1))
    waves = 0.02 * np.sin(np.linspace(0, 2 * np.pi, _SIZE) + rng.uniform(0, 2 * np.pi, (rows, 1)))
    return streaks + waves


def _paint(shade: np.ndarray, colour: Rgb) -> np.ndarray:
    return (255 * np.clip(shade[..., None] * np.array(colour), 0.0, 1.0)).astype(np.uint8)
