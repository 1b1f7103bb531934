"""Furniture to sit or lie on. Cushions are hard: what lies on them lies still."""

from __future__ import annotations

import numpy as np

from sbench_dag.scenes.houses.furniture import Kind, Level
from sbench_dag.scenes.houses.tables import block, legged, round_top, seen, top

_SEAT_M = 0.44


def sofa(rng: np.random.Generator) -> Kind:
    return _upholstered("sofa", "sofa", float(rng.choice([1.8, 2.0])), 2)


def armchair(rng: np.random.Generator) -> Kind:
    return _upholstered("armchair", "armchair", 0.92, 1)


def _upholstered(slug: str, name: str, width: float, cushions: int) -> Kind:
    depth, arm = 0.88, 0.14
    seat = width / 2 - arm
    parts = [
        block(0, 0, 0.18, width / 2 - 0.02, depth / 2 - 0.02, 0.12, "fabric"),
        block(0, 0.33, 0.60, width / 2 - arm, 0.11, 0.27, "fabric"),
        block(0, -0.11, 0.37, seat - 0.005, 0.33, 0.07, "cushion"),
    ]
    parts += [block(sx * (width / 2 - arm / 2), 0, 0.34, arm / 2, depth / 2, 0.24, "fabric") for sx in (-1, 1)]
    parts += [
        block(sx * (width / 2 - 0.06), sy * (depth / 2 - 0.06), 0.03, 0.025, 0.025, 0.03, "dark")
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    for i in range(cushions):
        x = -seat + 2 * seat * (i + 0.5) / cushions
        parts.append(seen(x, 0.215, 0.62, seat / cushions - 0.02, 0.012, 0.16, "cushion"))
    level = Level(0.0, -0.15, seat - 0.10, 0.27, _SEAT_M)
    return Kind(slug, name, width, depth, tuple(parts), (level,))


def bed(rng: np.random.Generator) -> Kind:
    """Its head stands at the wall; the pillows are part of it."""
    width, length = float(rng.choice([1.4, 1.6])), 2.05
    parts = [
        block(0, 0, 0.16, width / 2, length / 2, 0.10, "wood"),
        block(0, -0.01, 0.38, width / 2 - 0.02, length / 2 - 0.02, 0.12, "linen"),
        block(0, length / 2 + 0.0 - 0.025, 0.50, width / 2, 0.025, 0.50, "wood"),
        seen(0, -0.30, 0.385, width / 2 + 0.005, 0.69, 0.1185, "fabric"),
    ]
    parts += [block(sx * width / 4, 0.74, 0.54, width / 5, 0.18, 0.04, "pillow") for sx in (-1, 1)]
    parts += [
        block(sx * (width / 2 - 0.05), sy * (length / 2 - 0.05), 0.03, 0.03, 0.03, 0.03, "dark")
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    level = Level(0.0, -0.28, width / 2, 0.70, 0.50, open=("front", "left", "right"))
    return Kind("bed", "bed", width, length, tuple(parts), (level,))


def stool(rng: np.random.Generator) -> Kind:
    radius, height = 0.22, 0.48
    parts = [
        *round_top(radius, height, 0.04, 0.15),
        seen(0, 0, 0.2, 0.12, 0.012, 0.01, "metal"),
        seen(0, 0, 0.2, 0.012, 0.12, 0.01, "metal"),
    ]
    parts += [block(sx * 0.12, sy * 0.12, 0.22, 0.016, 0.016, 0.22, "metal") for sx in (-1, 1) for sy in (-1, 1)]
    level = Level(0.0, 0.0, 0.15, 0.15, height)
    return Kind("stool", "stool", 2 * radius, 2 * radius, tuple(parts), (level,))


def bench(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([1.0, 1.2]))
    parts = legged(width, 0.42, 0.46, "wood", 0.04)
    parts.append(seen(0, 0, 0.4605, width / 2 - 0.03, 0.18, 0.001, "cushion"))
    return Kind("bench", "bench", width, 0.42, tuple(parts), (top(width, 0.42, 0.46),))
