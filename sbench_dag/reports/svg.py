"""Numbers and outlines as SVG writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


def number(value: float) -> str:
    """To a tenth of a unit, as short as it can be."""
    return f"{round(float(value), 1):g}"


def polyline(points: Iterable[tuple[float, float]]) -> str:
    """The `d` of a path through the points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


@dataclass(frozen=True)
class Sheet:
    """Paper on which a part of the world is drawn: x to the right, y upwards in the world and downwards in SVG.

    bounds: x_min, y_min, x_max, y_max in metres. width, height: in SVG's units.
    """

    bounds: tuple[float, float, float, float]
    scale: float
    margin: float

    @property
    def width(self) -> float:
        return (self.bounds[2] - self.bounds[0]) * self.scale + 2 * self.margin

    @property
    def height(self) -> float:
        return (self.bounds[3] - self.bounds[1]) * self.scale + 2 * self.margin

    def x(self, x_m: float) -> float:
        return (x_m - self.bounds[0]) * self.scale + self.margin

    def y(self, y_m: float) -> float:
        return (self.bounds[3] - y_m) * self.scale + self.margin

    def path(self, points: np.ndarray) -> str:
        """A line through points (N, 2) in metres."""
        return polyline((self.x(x), self.y(y)) for x, y in points.tolist())

    def area(self, outlines: Iterable[np.ndarray]) -> str:
        """Closed outlines, each (N, 2) in metres."""
        return "".join(self.path(outline) + "Z" for outline in outlines)


def sheet_for(bounds: tuple[float, float, float, float], width: float, height: float, margin: float) -> Sheet:
    """As large as fits into width x height."""
    across, up = max(bounds[2] - bounds[0], 1e-3), max(bounds[3] - bounds[1], 1e-3)
    return Sheet(bounds, min((width - 2 * margin) / across, (height - 2 * margin) / up), margin)
