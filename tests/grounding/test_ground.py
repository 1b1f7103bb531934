"""Grounding follows the answer's words, perceives without the truth, and fails with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sbench_dag.context import Context
from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.grounding.ground import Grounded, ground, plan_reached
from sbench_dag.outcomes import Reason
from sbench_dag.plans.plan import Plan
from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.robot import OPEN_M
from sbench_dag.scenes.world import World
from sbench_dag.study import create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene

TABLES = {  # name -> (x, y, room); the tables are 0.8 x 0.6 x 0.5 m
    "table_0_0": (-3.0, 0.0, 0),
    "table_1_0": (-1.5, 0.0, 0),
    "table_2_1": (1.5, 0.0, 1),
    "shelf_0_1": (3.0, 1.2, 1),
}
_CUBE = '<geom type="box" size="0.025 0.025 0.025" mass="0.1"/>'
CUBES = {  # name -> (x, y, surface, category); three cubes of one category and one of another
    "cube_0_0": (-1.5, 0.2, 0.5, "cube"),
    "cube_1_1": (1.5, 0.2, 0.5, "cube"),
    "cube_2_1": (1.7, 0.2, 0.5, "cube"),
    "cube_3_1": (3.2, -1.5, 0.0, "cube"),
    "ball_0_1": (2.8, -1.0, 0.0, "ball"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two rooms with a wall in between: room 0 has two tables, room 1 a table and a shelf."""
    home = tmp_path_factory.mktemp("rooms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(home))
        dataset_from_scene(write_rooms(home / "scenes"), home / "datasets" / "rooms", "rooms")
        study = create_study("rooms", home / "datasets" / "rooms")
        yield Context(study).world(study.manifest.episodes[0])


def write_rooms(folder: Path) -> Path:
    folder.mkdir(parents=True)
    floors = "".join(
        f'<geom name="floor_{i}" type="plane" size="2 2 0.1" pos="{x} 0 0"/>' for i, x in enumerate((-2, 2))
    )
    wall = '<geom type="box" size="0.05 2 1.2" pos="0 0 1.2"/>'
    tables = "".join(
        f'<body name="{name}" pos="{x} {y} 0.25"><geom type="box" size="0.4 0.3 0.25"/></body>'
        for name, (x, y, _) in TABLES.items()
    )
    cubes = "".join(
        f'<body name="{name}" pos="{x} {y} {z + 0.025}"><freejoint/>{_CUBE}</body>'
        for name, (x, y, z, _) in CUBES.items()
    )
    (folder / "scene.xml").write_text(f"<mujoco><worldbody>{floors}{wall}{tables}{cubes}</worldbody></mujoco>")
    objects: dict[str, dict] = {
        name: {"category": name.split("_")[0], "is_static": True, "room_id": room}
        for name, (_, _, room) in TABLES.items()
    }
    objects |= {name: {"category": category, "is_static": False} for name, (*_, category) in CUBES.items()}
    (folder / "scene_metadata.json").write_text(json.dumps({"objects": objects}))
    return folder / "scene.xml"


def plan_for(
    *places: tuple[str | None, str], gt: tuple[str, ...] = ("cube_0_0",), category: str = "cube", steps=Steps.SINGLE
) -> Plan:
    selections = tuple(Selection(category, room, surface) for room, surface in places)
    return Plan(
        key="rooms__0.q00", episode="rooms__0", query="q00", text="", category=category, selections=selections,
        gt_bodies=gt, kind=Kind.TARGET, steps=steps, scoring=Scoring.LIFTED, twin=True, floor=False,
        r_support_m=0.85, sources=("oracle-loc",),
    )  # fmt: skip


@pytest.fixture
def grounded(world: World):
    """Grounds one answer."""
    from sbench_dag.study import NavigationSettings

    def of(*places: tuple[str | None, str], **about) -> list[Grounded]:
        return ground(world, plan_for(*places, **about), NavigationSettings())

    return of


def test_a_right_answer_leads_within_reach_of_the_object(grounded):
    [found] = grounded(("room 0", "table"))
    assert (found.approached, found.failure) == ("cube_0_0", None)
    assert found.distances[0].horizontal_m <= 0.7
    assert found.reached(0.85) == {"cube_0_0"}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (("ballroom", "table"), Reason.ROOM_UNKNOWN),
        ((None, "table"), Reason.ROOM_UNKNOWN),
        (("room 0", "shelf"), Reason.SURFACE_NOT_IN_ROOM),
        (("room 0", "altar"), Reason.SURFACE_UNKNOWN),
    ],
)
def test_what_does_not_exist_is_a_failure_of_the_answer(grounded, place, reason):
    [found] = grounded(place)
    assert (found.failure, found.base, found.distances) == (reason, None, ())
    assert found.message


def test_of_two_tables_in_the_room_the_one_that_carries_the_category_is_meant(grounded):
    [found] = grounded(("room 0", "table"))
    assert (found.anchor, found.ambiguous) == ("table_1_0", True)


def test_of_two_tables_without_the_category_the_first_is_meant(grounded):
    [found] = grounded(("room 0", "table"), category="ball", gt=("ball_0_1",))
    assert (found.anchor, found.ambiguous, found.approached) == ("table_0_0", True, None)


def test_of_two_twins_the_first_by_uid_is_approached_whichever_is_right(grounded):
    for gt in ("cube_1_1", "cube_2_1"):
        [found] = grounded(("room 1", "table"), gt=(gt,))
        assert found.approached == "cube_1_1"


def test_a_later_selection_of_the_same_place_takes_the_next_twin(grounded):
    found = grounded(("room 1", "table"), ("room 1", "table"), ("room 1", "table"), gt=("cube_1_1", "cube_2_1"))
    assert [g.approached for g in found] == ["cube_1_1", "cube_2_1", None]


def test_without_an_instance_the_robot_stands_before_the_furniture(grounded, world: World):
    [found] = grounded(("room 1", "shelf"))
    assert found.approached is None
    assert found.base is not None
    low, high = world.extent(next(p.bodies for p in world.scene.furniture if p.uid == "shelf_0_1"))
    outside = np.maximum(
        np.maximum(low[:2] - (found.base.x, found.base.y), (found.base.x, found.base.y) - high[:2]), 0.0
    )
    assert 0.3 - 1e-6 <= np.linalg.norm(outside) <= 0.8 + 1e-6


def test_a_floor_without_a_room_means_every_floor(grounded):
    [found] = grounded((None, "floor"), gt=("cube_3_1",))
    assert (found.anchor, found.approached) == ("floor:any", "cube_3_1")


def test_an_empty_floor_without_a_room_is_nowhere(grounded):
    [found] = grounded((None, "floor"), category="yacht")
    assert found.failure is Reason.FLOOR_WITHOUT_ROOM


def test_an_empty_floor_of_a_room_is_its_free_centre(grounded, world: World):
    [found] = grounded(("room 0", "floor"))
    assert (found.anchor, found.approached) == ("floor:0", None)
    assert found.base is not None
    assert world.room(0).contains(found.base.x, found.base.y)


def test_a_base_stands_on_free_floor_in_the_room_and_touches_nothing(grounded, world: World):
    for place, gt in (
        (("room 0", "table"), "cube_0_0"),
        (("room 1", "table"), "cube_1_1"),
        ((None, "floor"), "cube_3_1"),
    ):
        [found] = grounded(place, gt=(gt,))
        base = found.base
        assert world.free_floor.is_free(np.array(base.x), np.array(base.y))
        x, y, _ = world.object_position(gt)
        assert world.scene.room_at(base.x, base.y) == world.scene.room_at(x, y)
        world.collisions.set_world(world.settled_qpos, base)
        assert not world.collisions.hits(HOME, OPEN_M)
        assert np.isclose(np.arctan2(y - base.y, x - base.x), base.yaw), "it faces what it came for"


def test_several_steps_need_every_body_and_a_single_one_needs_any(grounded):
    places = (("room 0", "table"), ("room 1", "table"))
    gt = ("cube_0_0", "cube_3_1")
    found = grounded(*places, gt=gt)
    assert plan_reached(plan_for(*places, gt=gt), found)
    assert not plan_reached(plan_for(*places, gt=gt, steps=Steps.MULTI), found)
    both = ("cube_0_0", "cube_1_1")
    assert plan_reached(plan_for(*places, gt=both, steps=Steps.MULTI), grounded(*places, gt=both, steps=Steps.MULTI))


def test_the_truth_is_never_looked_at(grounded):
    with_truth, without = (grounded(("room 1", "table"), gt=(gt,))[0] for gt in ("cube_1_1", "ball_0_1"))
    assert (with_truth.base, with_truth.approached) == (without.base, without.approached)
