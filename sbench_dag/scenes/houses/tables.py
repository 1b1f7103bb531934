"""Furniture with one open top: tables, desks, counters, chests of drawers."""

from __future__ import annotations

import numpy as np

from sbench_dag.scenes.houses.furniture import Kind, Level, Part, Shape

_ALL = ("front", "right", "back", "left")


def block(x: float, y: float, z: float, half_x: float, half_y: float, half_z: float, material: str) -> Part:
    return Part((x, y, z), (half_x, half_y, half_z), material)


def seen(x: float, y: float, z: float, half_x: float, half_y: float, half_z: float, material: str) -> Part:
    """A detail that nothing can touch."""
    return Part((x, y, z), (half_x, half_y, half_z), material, solid=False)


def top(width: float, depth: float, height: float, open_sides: tuple[str, ...] = ("front",)) -> Level:
    return Level(0.0, 0.0, width / 2, depth / 2, height, open=open_sides)


def legged(width: float, depth: float, height: float, material: str, thick: float = 0.035) -> list[Part]:
    """A board on four legs."""
    leg = 0.03
    parts = [block(0, 0, height - thick / 2, width / 2, depth / 2, thick / 2, material)]
    for sx in (-1, 1):
        for sy in (-1, 1):
            x, y = sx * (width / 2 - leg - 0.01), sy * (depth / 2 - leg - 0.01)
            parts.append(block(x, y, (height - thick) / 2, leg, leg, (height - thick) / 2, material))
    return parts


def round_top(radius: float, height: float, thick: float, inlay: float) -> list[Part]:
    """A round board with a square inlay a hair higher: block on block lies still, cylinder on cylinder rocks."""
    return [
        Part((0, 0, height - 0.0003 - thick / 2), (radius, radius, thick / 2), "wood", Shape.CYLINDER),
        block(0, 0, height - thick / 4, inlay, inlay, thick / 4, "wood"),
    ]


def chest(
    width: float, depth: float, height: float, material: str, rows: int, columns: int, board: str | None = None
) -> list[Part]:
    """A closed body with a board on it, and fronts of drawers or doors that are only seen."""
    thick = 0.03
    low, high = 0.06, height - thick
    parts = [
        block(0, 0, height - thick / 2, width / 2, depth / 2, thick / 2, board or material),
        block(0, 0.01, (low + high) / 2, width / 2 - 0.01, depth / 2 - 0.01, (high - low) / 2, material),
        block(0, 0.03, low / 2, width / 2 - 0.04, depth / 2 - 0.05, low / 2, "dark"),
    ]
    cell_x, cell_z = (width - 0.02) / columns, (high - low) / rows
    front = -depth / 2
    for i in range(columns):
        for j in range(rows):
            x, z = -width / 2 + 0.01 + cell_x * (i + 0.5), low + cell_z * (j + 0.5)
            parts.append(seen(x, front - 0.002, z, cell_x / 2 - 0.006, 0.004, cell_z / 2 - 0.006, f"{material}_front"))
            bar = z + cell_z / 2 - 0.05
            parts.append(seen(x, front - 0.014, bar, min(0.06, cell_x / 4), 0.006, 0.006, "metal"))
    return parts


def dining_table(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([1.4, 1.6, 1.8]))
    parts = legged(width, 0.9, 0.75, "wood")
    return Kind("diningtable", "dining table", width, 0.9, tuple(parts), (top(width, 0.9, 0.75, _ALL),), True, 0.6)


def coffee_table(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([0.9, 1.0, 1.1]))
    parts = legged(width, 0.6, 0.42, "wood")
    parts.append(seen(0, 0, 0.16, width / 2 - 0.06, 0.24, 0.01, "wood"))
    return Kind("coffeetable", "coffee table", width, 0.6, tuple(parts), (top(width, 0.6, 0.42, _ALL),), True, 0.6)


def kitchen_island(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([1.2, 1.3, 1.4]))
    parts = chest(width, 0.8, 0.92, "cabinet", 1, 3, "stone")
    return Kind("kitchenisland", "kitchen island", width, 0.8, tuple(parts), (top(width, 0.8, 0.92, _ALL),), True, 0.6)


def countertop(rng: np.random.Generator) -> Kind:
    """A counter, an open cabinet over one half of it: what stands below that can't be picked from above."""
    width, depth, height = float(rng.choice([2.0, 2.2, 2.4])), 0.62, 0.90
    side = int(rng.choice([-1, 1]))
    cabinet = _kitchen_cabinet(0.45 * width)
    under, free = cabinet.width / 2 + 0.02, (width - cabinet.width - 0.02) / 2
    parts = chest(width, depth, height, "cabinet", 1, 4, "stone")
    parts.append(seen(0, depth / 2 - 0.006, height + 0.25, width / 2, 0.005, 0.25, "tiles"))
    levels = (
        Level(-side * (width / 2 - free), 0.0, free, depth / 2, height),
        Level(side * (width / 2 - under), 0.0, under, depth / 2, height, clearance=0.45),
    )
    hung = Kind(
        cabinet.slug,
        cabinet.name,
        cabinet.width,
        cabinet.depth,
        tuple(_moved(part, side * (width - cabinet.width) / 2) for part in cabinet.parts),
        tuple(
            Level(side * (width - cabinet.width) / 2, lv.y, lv.half_x, lv.half_y, lv.height, lv.clearance, lv.open)
            for lv in cabinet.levels
        ),
    )
    return Kind("countertop", "countertop", width, depth, tuple(parts), levels, above=hung)


def _kitchen_cabinet(width: float) -> Kind:
    """Two open compartments; its back is in line with the counter's."""
    low, high, depth = 1.36, 1.80, 0.38
    y = (0.62 - depth) / 2
    middle, half_z = (low + high) / 2, (high - low) / 2
    parts = [
        block(0, y, low + 0.01, width / 2, depth / 2, 0.01, "cabinet"),
        block(0, y, high - 0.01, width / 2, depth / 2, 0.01, "cabinet"),
        block(0, 0.62 / 2 - 0.01, middle, width / 2, 0.01, half_z, "cabinet"),
    ]
    parts += [block(x, y, middle, 0.01, depth / 2, half_z, "cabinet") for x in (-width / 2, 0, width / 2)]
    levels = tuple(
        Level(sx * width / 4, y, width / 4 - 0.03, depth / 2 - 0.02, low + 0.02, high - low - 0.04) for sx in (-1, 1)
    )
    return Kind("kitchencabinet", "kitchen cabinet", width, depth, tuple(parts), levels)


def _moved(part: Part, dx: float) -> Part:
    x, y, z = part.centre
    return Part((x + dx, y, z), part.half, part.material, part.shape, part.solid)


def nightstand(rng: np.random.Generator) -> Kind:
    parts = chest(0.46, 0.40, 0.55, "wood", 2, 1)
    return Kind("nightstand", "nightstand", 0.46, 0.40, tuple(parts), (top(0.46, 0.40, 0.55),))


def dresser(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([1.0, 1.1, 1.2]))
    parts = chest(width, 0.48, 0.86, "wood", 3, 2)
    return Kind("dresser", "dresser", width, 0.48, tuple(parts), (top(width, 0.48, 0.86),))


def desk(rng: np.random.Generator) -> Kind:
    """A writing desk with a screen at its back."""
    width, depth = float(rng.choice([1.2, 1.3, 1.4])), 0.66
    parts = legged(width, depth, 0.74, "wood", 0.03)
    screen = width / 2 - 0.34
    parts += [
        block(screen, 0.23, 0.752, 0.10, 0.07, 0.012, "dark"),
        block(screen, 0.25, 0.83, 0.02, 0.015, 0.08, "dark"),
        block(screen, 0.25, 1.02, 0.27, 0.012, 0.16, "dark"),
        seen(screen, 0.237, 1.02, 0.26, 0.002, 0.15, "screen"),
    ]
    level = Level(0.0, -0.10, width / 2, 0.23, 0.74)
    return Kind("desk", "desk", width, depth, tuple(parts), (level,))


def console_table(rng: np.random.Generator) -> Kind:
    width = float(rng.choice([1.0, 1.1, 1.2]))
    parts = legged(width, 0.36, 0.80, "wood", 0.03)
    return Kind("consoletable", "console table", width, 0.36, tuple(parts), (top(width, 0.36, 0.80),))


def side_table(rng: np.random.Generator) -> Kind:
    radius, height = 0.27, 0.55
    parts = (
        *round_top(radius, height, 0.03, 0.19),
        Part((0, 0, height / 2), (0.025, 0.025, height / 2 - 0.03), "metal", Shape.CYLINDER),
        Part((0, 0, 0.012), (0.17, 0.17, 0.012), "metal", Shape.CYLINDER),
    )
    level = Level(0.0, 0.0, 0.19, 0.19, height, open=("front",))
    return Kind("sidetable", "side table", 2 * radius, 2 * radius, parts, (level,))


def vanity(rng: np.random.Generator) -> Kind:
    """A washstand with a basin in its middle and a mirror on the wall."""
    width, depth, height = 1.1, 0.50, 0.84
    parts = chest(width, depth, height, "cabinet", 1, 2, "stone")
    parts += [block(sx * 0.19, 0, height + 0.045, 0.012, 0.18, 0.045, "ceramic") for sx in (-1, 1)]
    parts += [block(0, sy * 0.168, height + 0.045, 0.18, 0.012, 0.045, "ceramic") for sy in (-1, 1)]
    parts += [
        seen(0, 0, height + 0.004, 0.18, 0.16, 0.004, "water"),
        block(0, 0.21, height + 0.10, 0.012, 0.012, 0.10, "metal"),
        seen(0, 0.15, height + 0.19, 0.010, 0.06, 0.010, "metal"),
        seen(0, depth / 2 - 0.008, 1.50, 0.42, 0.006, 0.36, "mirror"),
    ]
    levels = tuple(Level(sx * 0.39, 0.0, 0.16, depth / 2, height) for sx in (-1, 1))
    return Kind("bathroomvanity", "bathroom vanity", width, depth, tuple(parts), levels)


def washing_machine(rng: np.random.Generator) -> Kind:
    parts = (
        block(0, 0, 0.43, 0.30, 0.30, 0.43, "ceramic"),
        seen(0, -0.302, 0.76, 0.28, 0.004, 0.05, "fabric"),
        seen(0, -0.303, 0.40, 0.16, 0.006, 0.16, "dark"),
        seen(0, -0.308, 0.40, 0.12, 0.006, 0.12, "screen"),
    )
    return Kind("washingmachine", "washing machine", 0.60, 0.60, parts, (top(0.60, 0.60, 0.86),))
