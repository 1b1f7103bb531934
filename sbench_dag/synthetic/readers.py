"""From what a reader remembers, and the words of a query, to an answer. Perception is noisy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.synthetic.memory import Belief
from sbench_dag.synthetic.queries import Place
from sbench_dag.synthetic.wording import Request, Which


@dataclass(frozen=True)
class Noise:
    """Probabilities, per remembered thing. guess: of naming some place rather than abstaining."""

    miss: float
    twin: float
    surface: float
    room: float
    invent: float
    guess: float


def noise_levels() -> dict[str, Noise]:
    return {
        "low-noise": Noise(miss=0.03, twin=0.05, surface=0.04, room=0.02, invent=0.0, guess=0.0),
        "high-noise": Noise(miss=0.07, twin=0.12, surface=0.14, room=0.05, invent=0.03, guess=0.22),
    }


@dataclass(frozen=True)
class KnownHouse:
    """The rooms and the furniture in each, by name: what everybody who was there knows."""

    furniture: Mapping[str, Sequence[str]]
    invented: tuple[Place, ...] = (
        ("garage", "workbench"),
        ("laundry room", "shelf"),
        ("kitchen", "refrigerator"),
        ("living room", "fireplace"),
        ("bedroom", "wardrobe"),
    )


def answer(
    request: Request, beliefs: Sequence[Belief], house: KnownHouse, noise: Noise, rng: np.random.Generator
) -> tuple[Selection, ...]:
    """The places that the reader names; none where it abstains."""
    reading = _Reading(house, noise, rng)
    known = reading.recall([belief for belief in beliefs if belief.category == request.category])
    meant = _meant(request.which, known)
    if not meant:
        places = [reading.guess()] if rng.random() < noise.guess else []
    elif request.all:
        places = [belief.place for belief in meant]
    else:
        places = [meant[int(rng.integers(len(meant)))].place]
    return tuple(Selection(request.category, room, surface) for room, surface in places)


def _meant(which: Which, known: list[Belief]) -> list[Belief]:
    """Those that the words fit best, as far as the reader can tell."""
    if which is Which.ANY:
        return known
    moved = [belief for belief in known if belief.moved]
    unsure = [belief for belief in known if belief.moved is None]
    if which is Which.MOVED:
        return moved or unsure
    return unsure


@dataclass
class _Reading:
    house: KnownHouse
    noise: Noise
    rng: np.random.Generator

    def recall(self, beliefs: Iterable[Belief]) -> list[Belief]:
        """The beliefs as they come back: some are lost, twins are mixed up, places are mistaken for others."""
        kept = [belief for belief in beliefs if self.rng.random() >= self.noise.miss]
        for i in range(len(kept)):
            if len(kept) > 1 and self.rng.random() < self.noise.twin:
                j = (i + int(self.rng.integers(1, len(kept)))) % len(kept)
                kept[i], kept[j] = replace(kept[i], place=kept[j].place), replace(kept[j], place=kept[i].place)
        return [replace(belief, place=self._perceived(belief.place)) for belief in kept]

    def _perceived(self, place: Place) -> Place:
        room, surface = place
        if self.rng.random() < self.noise.invent:
            return self._one_of(self.house.invented)
        if self.rng.random() < self.noise.room:
            return self._elsewhere(room, surface)
        if self.rng.random() < self.noise.surface:
            return self._beside(room, surface)
        return place

    def guess(self) -> Place:
        """Some furniture of the house, or of another."""
        if self.rng.random() < 0.15:
            return self._one_of(self.house.invented)
        return self._anywhere()

    def _beside(self, room: str | None, surface: str) -> Place:
        """Another piece in the room; what lies on a floor is taken to be on something."""
        if room is None:
            return self._anywhere()
        others = [(room, name) for name in self.house.furniture[room] if name != surface]
        return self._one_of([*others, (None, FLOOR)])

    def _elsewhere(self, room: str | None, surface: str) -> Place:
        """The right furniture in a wrong room, whether there is one or not, or something else there."""
        rooms = [r for r in sorted(self.house.furniture) if r != room]
        wrong = rooms[int(self.rng.integers(len(rooms)))]
        if surface != FLOOR and self.rng.random() < 0.5:
            return wrong, surface
        return self._one_of([(wrong, name) for name in self.house.furniture[wrong]])

    def _anywhere(self) -> Place:
        return self._one_of([(r, name) for r in sorted(self.house.furniture) for name in self.house.furniture[r]])

    def _one_of(self, places: Sequence[Place]) -> Place:
        return places[int(self.rng.integers(len(places)))]
