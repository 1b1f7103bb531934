"""How high objects were over time and what touched them, as the lines of a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace
from sbench_dag.reports.svg import number, polyline

WIDTH, LEFT, RIGHT, TOP, PLOT = 680.0, 56.0, 10.0, 30.0, 210.0
"""In SVG's units: of the whole chart, of what is left free beside and above the curves, and their height."""
STRIPS, STRIP = 18.0, 40.0
"""Where the strips of contacts begin below the curves, and how far apart they are."""
_MOST_POINTS = 500
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_TICKS = 5


@dataclass(frozen=True)
class Curve:
    """One object. d: its height above its start, a path for each selection. contacts: by what touched it, a path.

    y: of its strip of contacts. dash: SVG's stroke-dasharray, which tells curves of one colour apart.
    """

    body: str
    is_right: bool
    d: str
    dash: str
    contacts: dict[str, str]
    y: float
    highest_cm: float


@dataclass(frozen=True)
class Span:
    """A part of the time: an attempt, or the way home of the arm (name "")."""

    x: float
    width: float
    name: str


@dataclass(frozen=True)
class LiftChart:
    """limit_y: of the height from which on an object counts as lifted. ticks: (place, what stands there)."""

    curves: tuple[Curve, ...]
    spans: tuple[Span, ...]
    limit_y: float
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    height: float

    @property
    def base_y(self) -> float:
        return TOP + PLOT


def lift_chart(trace: Trace, right: Sequence[str], lift_m: float, places: Sequence[int] = ()) -> LiftChart | None:
    """The chart of the right bodies and of whatever else the robot went for; None if it made no step.

    places: the number of each selection that was picked from, if there are several. A body that the trace does not
    have is left out.
    """
    if not len(trace.time_s):
        return None
    known = trace.names.tolist()
    bodies = [body for body in dict.fromkeys([*right, *trace.selected.tolist()]) if body in known]
    columns = [known.index(body) for body in bodies]
    rise_cm = 100 * (trace.z - trace.start_z[trace.selection])[:, columns]
    low, high = min(0.0, float(rise_cm.min(initial=0.0))), max(float(rise_cm.max(initial=0.0)), 200 * lift_m)
    x_ticks, y_ticks = _round_numbers(0.0, float(trace.time_s[-1])), _round_numbers(low, high)
    low, high = min(low, y_ticks[0]), max(high, y_ticks[-1])

    def x(time_s: np.ndarray | float) -> np.ndarray:
        return LEFT + (WIDTH - LEFT - RIGHT) * np.asarray(time_s) / float(trace.time_s[-1])

    def y(cm: np.ndarray | float) -> np.ndarray:
        return TOP + PLOT * (high - np.asarray(cm)) / (high - low)

    across, up = x(trace.time_s), y(rise_cm)
    edges = np.append(x(0.0), across)  # each step's from its beginning to its end
    curves = []
    for i, body in enumerate(bodies):
        strip = TOP + PLOT + STRIPS + STRIP * (i + 1)
        contacts = _contacts(edges, trace.touch[:, columns[i]], strip)
        is_right = body in right
        dash = _dash(sum(curve.is_right == is_right for curve in curves))
        d = _curve(across, up[:, i], trace.selection)
        curves.append(Curve(body, is_right, d, dash, contacts, strip, float(rise_cm[:, i].max())))
    return LiftChart(
        tuple(curves),
        _spans(edges, trace, places),
        float(y(100 * lift_m)),
        tuple((float(x(tick)), f"{tick:g}") for tick in x_ticks),
        tuple((float(y(tick)), f"{tick:g}") for tick in y_ticks),
        TOP + PLOT + STRIPS + STRIP * len(bodies) + 12,
    )


def _curve(x: np.ndarray, y: np.ndarray, selection: np.ndarray) -> str:
    """Broken where a new selection begins: heights are above the start of each."""
    parts = np.split(np.arange(len(x)), np.flatnonzero(np.diff(selection)) + 1)
    return "".join(polyline(zip(x[keep], y[keep], strict=True)) for part in parts for keep in [part[_thin(y[part])]])


def _thin(y: np.ndarray) -> np.ndarray:
    """Indices of what has to be drawn: no inner points of what is level, nor more points than can be told apart."""
    moved = np.diff(np.rint(2 * y)) != 0
    keep = np.flatnonzero(np.concatenate([[True], moved]) | np.concatenate([moved, [True]]))
    if len(keep) > _MOST_POINTS:
        some = np.linspace(0, len(keep) - 1, _MOST_POINTS).astype(int)
        keep = np.union1d(keep[some], [int(y.argmin())])  # SVG's y points down: the highest is the least
    return keep


def _contacts(edges: np.ndarray, touch: np.ndarray, y: float) -> dict[str, str]:
    kinds = {
        "robot": touch == Touch.ROBOT,
        "both": (touch & Touch.ROBOT).astype(bool) & (touch != Touch.ROBOT),
        "other": (touch != 0) & ~(touch & Touch.ROBOT).astype(bool),
    }
    return {
        name: "".join(f"M{number(edges[a])} {number(y)}H{number(edges[b])}" for a, b in _runs(flags))
        for name, flags in kinds.items()
        if flags.any()
    }


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First and one past the last index of each run of True."""
    change = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(change == 1).tolist(), np.flatnonzero(change == -1).tolist(), strict=True))


def _spans(edges: np.ndarray, trace: Trace, places: Sequence[int]) -> tuple[Span, ...]:
    """In the order of time. Where there are several places, their numbers stand before the attempts'."""
    label = trace.selection.astype(int) * 1000 + trace.attempt
    borders = [0, *(np.flatnonzero(np.diff(label)) + 1).tolist(), len(label)]
    spans = []
    for a, b in pairwise(borders):
        selection, attempt = int(trace.selection[a]), int(trace.attempt[a])
        name = f"attempt {attempt + 1}"
        if selection < len(places):
            name = name if attempt else f"place {places[selection]}"
        spans.append(Span(float(edges[a]), float(edges[b] - edges[a]), "" if attempt == RETRACTING else name))
    return tuple(spans)


def _round_numbers(low: float, high: float) -> list[float]:
    """About _TICKS round numbers, from low (or a little above it) to high."""
    step = next((s / 10 for s in _STEPS if (high - low) / (s / 10) <= _TICKS), 100.0)
    first, last = int(np.floor(low / step + 0.05)), int(np.floor(high / step + 1e-9))
    return [round(i * step, 6) for i in range(first, last + 1)]


def _dash(index: int) -> str:
    return ("", "7 4", "2 4", "12 4 2 4")[index % 4]
