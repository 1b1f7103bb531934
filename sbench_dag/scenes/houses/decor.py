"""What stands in a room without carrying anything that could be asked for."""

from __future__ import annotations

import numpy as np

from sbench_dag.scenes.houses.furniture import Kind, Part, Shape
from sbench_dag.scenes.houses.tables import block, seen


def fridge(rng: np.random.Generator) -> Kind:
    parts = (
        block(0, 0, 0.90, 0.34, 0.33, 0.90, "appliance"),
        seen(0, -0.335, 1.25, 0.33, 0.008, 0.53, "appliance"),
        seen(0, -0.335, 0.37, 0.33, 0.008, 0.33, "appliance"),
        seen(-0.27, -0.355, 1.15, 0.012, 0.012, 0.25, "dark"),
        seen(-0.27, -0.355, 0.52, 0.012, 0.012, 0.12, "dark"),
    )
    return Kind("fridge", None, 0.68, 0.66, parts)


def bathtub(rng: np.random.Generator) -> Kind:
    parts = [block(0, 0, 0.06, 0.80, 0.36, 0.06, "ceramic"), seen(0, 0, 0.30, 0.74, 0.30, 0.01, "water")]
    parts += [block(0, sy * 0.34, 0.28, 0.80, 0.03, 0.28, "ceramic") for sy in (-1, 1)]
    parts += [block(sx * 0.77, 0, 0.28, 0.03, 0.36, 0.28, "ceramic") for sx in (-1, 1)]
    parts.append(seen(-0.74, 0, 0.66, 0.02, 0.02, 0.10, "metal"))
    return Kind("bathtub", None, 1.60, 0.74, tuple(parts))


def toilet(rng: np.random.Generator) -> Kind:
    parts = (
        block(0, 0.24, 0.58, 0.19, 0.08, 0.20, "ceramic"),
        block(0, 0.16, 0.19, 0.13, 0.16, 0.19, "ceramic"),
        Part((0, -0.10, 0.39), (0.20, 0.20, 0.03), "ceramic", Shape.CYLINDER),
        Part((0, -0.08, 0.18), (0.13, 0.13, 0.18), "ceramic", Shape.CYLINDER),
    )
    return Kind("toilet", None, 0.42, 0.64, parts, front=0.6)


def plant(rng: np.random.Generator) -> Kind:
    parts = [
        Part((0, 0, 0.17), (0.16, 0.16, 0.17), "pot", Shape.CYLINDER),
        Part((0, 0, 0.345), (0.14, 0.14, 0.004), "dark", Shape.CYLINDER, solid=False),
        Part((0, 0, 0.60), (0.02, 0.02, 0.26), "wood", Shape.CYLINDER),
    ]
    leaves = [(0.0, 0.0, 1.02, 0.20), (0.10, 0.04, 0.84, 0.15), (-0.09, 0.05, 0.88, 0.14), (0.0, -0.10, 0.82, 0.14)]
    parts += [Part((x, y, z), (r, r, 0.8 * r), "leaves", Shape.ELLIPSOID, solid=False) for x, y, z, r in leaves]
    return Kind("plant", None, 0.40, 0.40, tuple(parts), front=0.3)


def floor_lamp(rng: np.random.Generator) -> Kind:
    parts = (
        Part((0, 0, 0.015), (0.15, 0.15, 0.015), "dark", Shape.CYLINDER),
        Part((0, 0, 0.80), (0.012, 0.012, 0.78), "dark", Shape.CYLINDER),
        Part((0, 0, 1.62), (0.17, 0.17, 0.14), "lampshade", Shape.CYLINDER, solid=False),
    )
    return Kind("floorlamp", None, 0.36, 0.36, parts, front=0.3)
