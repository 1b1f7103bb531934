"""Where a house's things are before anybody moves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sbench_dag.scenes.houses.furniture import Surface
from sbench_dag.scenes.houses.plan import Interior, choose_things, plan_interior
from sbench_dag.scenes.houses.resting import Arrangement, Resting
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.spots import Spots
from sbench_dag.scenes.houses.things import Thing

_ATTEMPTS = 50
_HIDDEN = 0.14  # of the things start inside something
_USUAL = 2.5  # weight of a thing's usual furniture against any other


def _usual_places() -> Mapping[str, tuple[str, ...]]:
    """Category -> slugs of the furniture that it is usually on."""
    kitchen = ("countertop", "kitchenisland", "diningtable")
    lounge = ("coffeetable", "sidetable", "tvstand", "sofa", "armchair")
    return {
        "mug": (*kitchen, "desk", "coffeetable"),
        "bowl": kitchen,
        "plate": kitchen,
        "can": ("countertop", "coffeetable", "shelf", "sidetable"),
        "bottle": ("countertop", "desk", "nightstand", "bathroomvanity"),
        "box": ("countertop", "shelf", "kitchenisland", "washingmachine"),
        "remote control": lounge,
        "cell phone": ("nightstand", "desk", "sofa", "bed", "bathroomvanity"),
        "key chain": ("consoletable", "sideboard", "dresser", "bench"),
        "potato": ("countertop", "kitchenisland", "stool"),
        "apple": (*kitchen, "coffeetable"),
        "butter knife": kitchen,
        "book": ("bookshelf", "nightstand", "desk", "coffeetable"),
        "cooking pot": ("kitchenisland", "countertop", "diningtable"),
        "basket": ("bench", "sideboard", "dresser", "washingmachine", "diningtable"),
        "cushion": ("sofa", "bed", "armchair", "bench"),
        "vase": ("sideboard", "consoletable", "dresser", "diningtable", "tvstand"),
    }


@dataclass(frozen=True)
class HousePlan:
    """A house, its things, and where they are at first. Pure data, deterministic from the index."""

    interior: Interior
    home: Arrangement


def plan_house(index: int) -> HousePlan:
    """The whole plan of a house. A thing's uid says its category, its number, and the room of its first place."""
    interior = plan_interior(index)
    things = choose_things(index)
    for attempt in range(_ATTEMPTS):
        placed = _place_all(interior, things, stable_rng("home", index, attempt))
        if placed is not None:
            return HousePlan(interior, placed)
    raise RuntimeError(f"house {index}: its things found no place in {_ATTEMPTS} attempts")


def _place_all(interior: Interior, things: list[Thing], rng: np.random.Generator) -> Arrangement | None:
    spots = Spots(interior, rng)
    around = Arrangement({})
    numbers: Counter[str] = Counter()
    # what needs most space goes first
    for thing in sorted(things, key=lambda thing: (-thing.radius, thing.category)):
        place = _first_place(spots, thing, around)
        if place is None:
            return None
        uid = f"{thing.slug}_{numbers[thing.slug]}_{place.room}"
        numbers[thing.slug] += 1
        around = Arrangement({**around.things, uid: thing}, around.places).moved(uid, place)
    order = sorted(around.things)
    return Arrangement({uid: around.things[uid] for uid in order}, {uid: around.places[uid] for uid in order})


def _first_place(spots: Spots, thing: Thing, around: Arrangement) -> Resting | None:
    hidden = thing.graspable and spots.rng.random() < _HIDDEN
    for surface in weighted_order(spots.rng, spots.house.surfaces, _weights(spots.house, thing)):
        if hidden:
            place = spots.within(thing, surface, around)
        else:
            place = spots.at_edge(thing, surface, around)
            if place is None and not thing.graspable:
                place = spots.within(thing, surface, around)
        if place is not None:
            return place
    return None


def _weights(house: Interior, thing: Thing) -> np.ndarray:
    """Per surface, so that a shelf of five levels is no more likely than a table."""
    usual = _usual_places()[thing.category]
    levels = Counter(surface.furniture for surface in house.surfaces)
    slugs = {piece.uid: piece.kind.slug for piece in house.furniture}
    return np.array([(_USUAL if slugs[s.furniture] in usual else 1.0) / levels[s.furniture] for s in house.surfaces])


def weighted_order(rng: np.random.Generator, surfaces: tuple[Surface, ...], weights: np.ndarray) -> Iterator[Surface]:
    """All surfaces in a random order in which the heavier ones tend to come first."""
    keys = rng.random(len(surfaces)) ** (1.0 / weights)
    for i in np.argsort(-keys, kind="stable"):
        yield surfaces[i]
