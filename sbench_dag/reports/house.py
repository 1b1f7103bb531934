"""An episode's house, drawn once for all pages of the episode."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.floor_plan import FloorPlan, RoomArea, floor_plan
from sbench_dag.reports.free_path import DrivenPath, FloorGrid, Leg, Point, free_map
from sbench_dag.reports.grid import Results
from sbench_dag.reports.html import template
from sbench_dag.reports.svg import Sheet, number, sheet_for
from sbench_dag.scenes.sources import open_source
from sbench_dag.scenes.world import World

_WIDTH, _HEIGHT, _MARGIN = 680.0, 520.0, 6.0
_NAME_M = (2.0, 0.35)  # what a room's name covers: its width, and half its height with the mark of the robot beside it


@dataclass(frozen=True)
class House:
    """ground, top: what is the same on every page, as SVG; what a page highlights lies between them.

    paths: by leg, of all the episode's plans.
    """

    plan: FloorPlan
    sheet: Sheet
    ground: Markup
    top: Markup
    paths: Mapping[Leg, DrivenPath]

    def places(self, bodies: Collection[str]) -> dict[str, str]:
        """What each of the bodies rests on, in words."""
        return {thing.uid: thing.where for thing in self.plan.objects if thing.uid in bodies}

    def marks(self, bodies: Collection[str], note: str) -> list[dict[str, Any]]:
        """Positions of bodies on the sheet, and what is said of them."""
        return [
            {"x": self.sheet.x(thing.x), "y": self.sheet.y(thing.y), "title": f"{note}: {thing.uid}, {thing.where}"}
            for thing in self.plan.objects
            if thing.uid in bodies
        ]

    @property
    def start(self) -> dict[str, Any]:
        return self.pose(self.plan.start.x, self.plan.start.y, self.plan.start.yaw)

    def pose(self, x: float, y: float, yaw: float) -> dict[str, Any]:
        """A robot's place on the sheet. turn: as SVG's rotate has it."""
        return {"x": self.sheet.x(x), "y": self.sheet.y(y), "turn": round(-yaw * 57.29578)}


def look_at_house(results: Results, episode: str) -> House | str:
    """The house in its settled end state, or why it can't be shown. Builds the episode's world."""
    why = _why_not(results, episode)
    if why:
        return why
    study = results.study
    try:
        source = open_source(study.scene_source, study.dataset.root, study.physics.sleep)
        world = World(source, study.dataset.episode(episode), study.restore.settle_s)
        plan = floor_plan(world)
        grid = FloorGrid(free_map(world.free_floor, plan.bounds), plan.bounds[:2])
    except Exception as error:  # whatever is wrong with a scene: the pages have more to say than the house
        return f"the scene can't be built ({type(error).__name__}: {error})"
    start = (plan.start.x, plan.start.y)
    stage_b = results.of("stage_b")
    rows = [stage_b[entry.key].row for entry in study.manifest.by_episode[episode] if entry.key in stage_b]
    paths = grid.paths(list(dict.fromkeys(leg for row in rows for leg in legs_of(row.get("selections", ()), start))))
    sheet = sheet_for(plan.bounds, _WIDTH, _HEIGHT, _MARGIN)
    return House(plan, sheet, *_picture(plan, sheet), paths)


def legs_of(selections: Iterable[Mapping[str, Any]], start: Point) -> list[Leg]:
    """From where the episode ended to the first base pose, from there to the second, and so on."""
    stops = [start, *((s["base"]["x"], s["base"]["y"]) for s in selections if s["base"])]
    return list(pairwise(stops))


def anchor_area(house: House, label: str | None) -> str:
    """The outline of what an answer's place was found to be; "" of none, and of every floor."""
    if label is None:
        return ""
    if not is_floor(label):
        return next((house.sheet.area(f.outlines) for f in house.plan.furniture if f.uid == label), "")
    room = next((room for room in house.plan.rooms if label == f"{FLOOR}:{room.index}"), None)
    return "" if room is None else _rectangle(house.sheet, room.x_min, room.y_min, room.x_max, room.y_max)


def is_floor(label: str | None) -> bool:
    """Whether an anchor is a room's floor, or every floor."""
    return label is not None and label.startswith(f"{FLOOR}:")


def others_of_its_kind(house: House, plan: Plan, known: Collection[str]) -> list[str]:
    """What else a robot could take for the object that the plan is about."""
    return [thing.uid for thing in house.plan.objects if plan.category in thing.names and thing.uid not in known]


def _why_not(results: Results, episode: str) -> str:
    """A scene that broke the worker of gate G0 would break the process that writes the report, too."""
    line = results.of("g0_spike").get(episode)
    if line is None:
        return "gate G0 has not run on the episode as it is now"
    if line.outcome is Outcome.SUCCESS or line.result.reason is Reason.G0_FAILED:
        return ""
    return f"gate G0 could not build its scene ({line.result.message or line.result.reason})"


def _picture(plan: FloorPlan, sheet: Sheet) -> tuple[Markup, Markup]:
    things = [
        {"title": f"{f.name} ({f.uid})" if f.name != f.uid else f.uid, "d": sheet.area(f.outlines)}
        for f in (*plan.fixtures, *plan.furniture)
        if f.outlines
    ]
    rooms = []
    for room in plan.rooms:
        x, y = _place_for_name(plan, room)
        area = _rectangle(sheet, room.x_min, room.y_min, room.x_max, room.y_max)
        rooms.append({"d": area, "name": room.name, "x": sheet.x(x), "y": sheet.y(y)})
    objects = [{"x": sheet.x(o.x), "y": sheet.y(o.y), "title": f"{o.uid}, {o.where}"} for o in plan.objects]
    macros: Any = template("floor_plan.html").module
    return macros.ground(rooms, things), macros.top(rooms, sheet.area(plan.walls), objects)


def _place_for_name(plan: FloorPlan, room: RoomArea) -> Point:
    """Near the middle of the room, where the name hides the least."""
    taken = [outline for f in (*plan.furniture, *plan.fixtures) for outline in f.outlines]
    taken.append(np.array([(plan.start.x, plan.start.y)]))
    x, wide = (room.x_min + room.x_max) / 2, min(_NAME_M[0], room.x_max - room.x_min) / 2

    def hides(y: float) -> int:
        low, high = (x - wide, y - _NAME_M[1]), (x + wide, y + _NAME_M[1])
        return sum(bool((o.min(axis=0) < high).all() and (o.max(axis=0) > low).all()) for o in taken)

    places = [room.y_min + share * (room.y_max - room.y_min) for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)]
    return x, min(places, key=hides)


def _rectangle(sheet: Sheet, x_min: float, y_min: float, x_max: float, y_max: float) -> str:
    left, top = sheet.x(x_min), sheet.y(y_max)
    across, down = sheet.x(x_max) - left, sheet.y(y_min) - top
    return f"M{number(left)} {number(top)}h{number(across)}v{number(down)}h{number(-across)}Z"
