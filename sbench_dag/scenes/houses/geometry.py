"""Axis-aligned rectangles on the floor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rect:
    """Bounds in metres in the world."""

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    @classmethod
    def around(cls, x: float, y: float, half_x: float, half_y: float) -> Rect:
        return cls(x - half_x, y - half_y, x + half_x, y + half_y)

    @property
    def centre(self) -> tuple[float, float]:
        return (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2

    @property
    def half(self) -> tuple[float, float]:
        return (self.x_max - self.x_min) / 2, (self.y_max - self.y_min) / 2

    def grown(self, margin: float) -> Rect:
        return Rect(self.x_min - margin, self.y_min - margin, self.x_max + margin, self.y_max + margin)

    def overlaps(self, other: Rect) -> bool:
        """Whether they share an area; touching edges don't count."""
        apart = 1e-9
        return (
            self.x_min < other.x_max - apart
            and other.x_min < self.x_max - apart
            and self.y_min < other.y_max - apart
            and other.y_min < self.y_max - apart
        )

    def holds(self, other: Rect) -> bool:
        apart = 1e-9
        return (
            self.x_min <= other.x_min + apart
            and self.y_min <= other.y_min + apart
            and self.x_max >= other.x_max - apart
            and self.y_max >= other.y_max - apart
        )


def turned(x: float, y: float, quarter_turns: int) -> tuple[float, float]:
    """A vector turned counter-clockwise by so many quarter turns, exactly."""
    for _ in range(quarter_turns % 4):
        x, y = -y, x
    return x, y
