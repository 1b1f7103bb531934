"""Furniture with several levels. What lies inside can be reached, but not picked from above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sbench_dag.scenes.houses.furniture import OPEN_ABOVE_M, Kind, Level, Part
from sbench_dag.scenes.houses.tables import block, seen, top

_BOARD = 0.02


def _rack(width: float, depth: float, heights: Sequence[float], height: float, material: str) -> list[Part]:
    """Sides, a back, and boards whose upper faces are at `heights`."""
    parts = [block(sx * (width / 2 - 0.01), 0, height / 2, 0.01, depth / 2, height / 2, material) for sx in (-1, 1)]
    parts.append(block(0, depth / 2 - 0.005, height / 2, width / 2 - 0.02, 0.005, height / 2, material))
    parts += [block(0, 0, z - _BOARD / 2, width / 2 - 0.02, depth / 2, _BOARD / 2, material) for z in heights]
    return parts


def _levels(width: float, depth: float, heights: Sequence[float], ceiling: float) -> list[Level]:
    above = [*heights[1:], ceiling]
    return [
        Level(0.0, -0.01, width / 2 - 0.03, depth / 2 - 0.02, z, round(higher - _BOARD - z, 3))
        for z, higher in zip(heights, above, strict=True)
    ]


def bookshelf(rng: np.random.Generator) -> Kind:
    """Tall; half of some levels is taken by rows of books that belong to it."""
    width, depth, height = float(rng.choice([0.9, 1.0])), 0.34, 1.78
    heights = (0.08, 0.42, 0.76, 1.10, 1.44)
    parts = _rack(width, depth, (*heights, height), height, "wood")
    levels = _levels(width, depth, heights, height)
    for k in (0, 1, 3):
        side = int(rng.choice([-1, 1]))
        parts += _book_row(side * (width / 4 - 0.01), heights[k], width / 4 - 0.03, rng)
        free = width / 4 - 0.02
        level = levels[k]
        levels[k] = Level(-side * (width / 4 - 0.01), level.y, free, level.half_y, level.height, level.clearance)
    return Kind("bookshelf", "bookshelf", width, depth, tuple(parts), tuple(levels))


def _book_row(x: float, z: float, half: float, rng: np.random.Generator) -> list[Part]:
    parts, at = [], -half
    for material in ("book_a", "book_b", "book_c", "book_a", "book_c", "book_b"):
        thick = half / 6
        tall = 0.10 + 0.005 * int(rng.integers(0, 7))
        parts.append(block(x + at + thick, 0.03, z + tall, thick - 0.001, 0.09, tall, material))
        at += 2 * thick
    return parts


def sideboard(rng: np.random.Generator) -> Kind:
    """Open compartments below a top that is free."""
    width, depth, height = float(rng.choice([1.2, 1.3, 1.4])), 0.44, 0.84
    heights = (0.10, 0.46)
    parts = _rack(width, depth, (*heights, height), height, "wood")
    parts.append(block(0, 0, height / 2, 0.01, depth / 2, height / 2 - 0.01, "wood"))
    half = width / 4 - 0.03
    levels = [top(width, depth, height)]
    for z, clearance in ((0.10, 0.34), (0.46, 0.36)):
        levels += [Level(sx * width / 4, -0.01, half, depth / 2 - 0.02, z, clearance) for sx in (-1, 1)]
    return Kind("sideboard", "sideboard", width, depth, tuple(parts), tuple(levels))


def shelf(rng: np.random.Generator) -> Kind:
    """A low rack; its top is free."""
    width, depth, height = 0.86, 0.38, 1.0
    heights = (0.10, 0.40, 0.70)
    parts = _rack(width, depth, (*heights, height), height, "rack")
    levels = [top(width, depth, height), *_levels(width, depth, heights, height)]
    return Kind("shelf", "shelf", width, depth, tuple(parts), tuple(levels))


def tv_stand(rng: np.random.Generator) -> Kind:
    width, depth, height = float(rng.choice([1.5, 1.6])), 0.44, 0.52
    parts = _rack(width, depth, (0.12, height), height, "wood")
    parts += [block(x, 0, height / 2, 0.01, depth / 2, height / 2 - 0.01, "wood") for x in (-width / 6, width / 6)]
    parts += [
        block(0, 0.15, height + 0.01, 0.18, 0.06, 0.01, "dark"),
        block(0, 0.17, height + 0.05, 0.03, 0.012, 0.05, "dark"),
        block(0, 0.17, height + 0.40, 0.55, 0.014, 0.32, "dark"),
        seen(0, 0.155, height + 0.40, 0.54, 0.002, 0.31, "screen"),
    ]
    low = [Level(x, -0.01, width / 6 - 0.03, depth / 2 - 0.02, 0.12, 0.38) for x in (-width / 3, 0, width / 3)]
    level = Level(0.0, -0.075, width / 2, 0.145, height, OPEN_ABOVE_M)
    return Kind("tvstand", "tv stand", width, depth, tuple(parts), (level, *low))
