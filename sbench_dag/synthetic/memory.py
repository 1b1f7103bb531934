"""What five readers of one episode remember. Each keeps something else of it, and nothing of the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sbench_dag.synthetic.queries import Place

FRAMES_SAMPLED = 8
EVENTS_RECENT = 3


@dataclass(frozen=True)
class Entry:
    """A line of the event log: something was carried from one place to another."""

    body: str
    first_frame: int
    last_frame: int
    start: Place
    end: Place


@dataclass(frozen=True)
class Recording:
    """What there is to remember. sightings: per frame the bodies that were visible, and where each was;
    a thing in somebody's hands was nowhere. category: of every body."""

    category: Mapping[str, str]
    log: tuple[Entry, ...]
    sightings: tuple[Mapping[str, Place], ...]


@dataclass(frozen=True)
class Belief:
    """Where a reader takes a thing to be. moved: whether it was moved, None if the reader can't tell."""

    body: str
    category: str
    place: Place
    moved: bool | None


def strategies() -> dict[str, Callable[[Recording], list[Belief]]]:
    return {
        "event-log": event_log,
        "frames-uniform": frames_uniform,
        "last-seen": last_seen,
        "first-seen": first_seen,
        "recent-events": recent_events,
    }


def event_log(recording: Recording) -> list[Belief]:
    """The whole log as text, and not one picture: nothing about what was never moved."""
    return _from_log(recording, recording.log)


def recent_events(recording: Recording) -> list[Belief]:
    """The three most recent events: what was moved, and what else was in view as it was put down."""
    recent = recording.log[-EVENTS_RECENT:]
    moved = _from_log(recording, recent)
    known = {belief.body for belief in moved}
    frames = [recording.sightings[entry.last_frame] for entry in recent]
    return moved + [belief for belief in _latest(recording, frames) if belief.body not in known]


def frames_uniform(recording: Recording) -> list[Belief]:
    """Eight frames, evenly spaced. A thing seen in two places was moved."""
    picks = np.linspace(0, len(recording.sightings) - 1, FRAMES_SAMPLED).round().astype(int)
    frames = [recording.sightings[i] for i in picks]
    places: dict[str, set[Place]] = {}
    for frame in frames:
        for body, place in frame.items():
            places.setdefault(body, set()).add(place)
    return [
        Belief(belief.body, belief.category, belief.place, True if len(places[belief.body]) > 1 else None)
        for belief in _latest(recording, frames)
    ]


def last_seen(recording: Recording) -> list[Belief]:
    """Of everything the place where it was visible last; how it got there is forgotten."""
    return _latest(recording, recording.sightings)


def first_seen(recording: Recording) -> list[Belief]:
    """Of everything the place where it was visible first."""
    return _latest(recording, recording.sightings[::-1])


def _from_log(recording: Recording, entries: Iterable[Entry]) -> list[Belief]:
    last = {entry.body: entry for entry in entries}
    return [Belief(body, recording.category[body], entry.end, True) for body, entry in sorted(last.items())]


def _latest(recording: Recording, frames: Iterable[Mapping[str, Place]]) -> list[Belief]:
    places: dict[str, Place] = {}
    for frame in frames:
        places.update(frame)
    return [Belief(body, recording.category[body], place, None) for body, place in sorted(places.items())]
