"""Other instructions for a rollout's video, which the simulator labels by what it knows of the house."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.manipulation.trace import Trace
from sbench_dag.rewards.goal import Goal, Place, was_let_go
from sbench_dag.scenes.scene import Furniture, Room
from sbench_dag.scenes.world import World
from sbench_dag.study import JudgeSettings


@dataclass(frozen=True)
class Thing:
    """An object of the house. names: its category, then what else it is called. place: None if it stands nowhere."""

    uid: str
    names: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True)
class House:
    """What can be talked about: things, and the places of furniture."""

    things: tuple[Thing, ...]
    places: tuple[Place, ...]

    def instances(self, category: str) -> tuple[str, ...]:
        return tuple(thing.uid for thing in self.things if category in thing.names)

    def place_of(self, uid: str) -> Place | None:
        return next(thing.place for thing in self.things if thing.uid == uid)


def look_around(world: World) -> House:
    """The house at the start of every rollout: the settled end state."""
    rooms = world.episode.eval_spec.room_names

    def place(support: Furniture | Room | None) -> Place | None:
        if isinstance(support, Furniture):
            return Place(rooms[support.room], support.name) if support.room in rooms else None
        return Place(None, FLOOR) if support is not None else None

    things = tuple(
        Thing(uid, obj.names, place(world.supports[uid])) for uid, obj in sorted(world.scene.objects.items())
    )
    places = {place(piece) for piece in world.scene.furniture} - {None}
    return House(things, tuple(sorted((p for p in places if p), key=str)))


@dataclass(frozen=True)
class Counterfactual:
    """kind: what is different about the goal; `same place` is true, so that naming a place gives nothing away."""

    kind: str
    goal: Goal


def counterfactuals(
    trace: Trace, goal: Goal, house: House, settings: JudgeSettings, rng: np.random.Generator
) -> Iterator[Counterfactual]:
    """Goals near the one that the rollout was for, in a fixed order.

    Two other objects (one from where the robot was, one from anywhere), the true place, another place (where another
    instance is, if there is one), one more of the category (if there is one), and a place to put it (if the trace
    can tell that it was not put there).
    """
    here = {house.place_of(str(uid)) for uid in trace.selected} - {None}
    for category in _other_categories(goal, house, here, rng):
        yield Counterfactual("another object", Goal(category, house.instances(category)))
    if goal.needed == 1:
        for kind, place in (("same place", _pick(sorted(here, key=str), rng)),
                            ("another place", _another_place(goal, house, here, rng))):  # fmt: skip
            if place is not None:
                there = tuple(uid for uid in goal.instances if house.place_of(uid) == place)
                yield Counterfactual(kind, replace(goal, source=place, there=there))
    if len(goal.instances) > goal.needed:
        yield Counterfactual("one more", goal.one_more())
    taken = {house.place_of(uid) for uid in goal.instances}
    to = _pick([place for place in house.places if place not in taken], rng)
    if to is not None and not was_let_go(trace, goal, settings):
        yield Counterfactual("put it on", replace(goal, put_on=to))


def _other_categories(goal: Goal, house: House, here: set[Place | None], rng: np.random.Generator) -> list[str]:
    """One that has a thing where the robot was, and one more; neither a name of the goal's objects."""
    mine = set(goal.instances)
    others = sorted({t.names[0] for t in house.things} - {n for t in house.things if t.uid in mine for n in t.names})
    near = [c for c in others if any(house.place_of(uid) in here for uid in house.instances(c))]
    first = _pick(near, rng)
    second = _pick([category for category in others if category != first], rng)
    return [category for category in (first, second) if category is not None]


def _another_place(goal: Goal, house: House, here: set[Place | None], rng: np.random.Generator) -> Place | None:
    elsewhere = {house.place_of(uid) for uid in goal.instances} - here - {None}
    return _pick(sorted(elsewhere, key=str) or [place for place in house.places if place not in here], rng)


def _pick(options: Sequence, rng: np.random.Generator):
    return options[int(rng.integers(len(options)))] if options else None
