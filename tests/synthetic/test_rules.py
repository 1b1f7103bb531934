"""What an observer sees, what a story moves, and what counts as liftable."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sbench_dag.dataset.eval_spec import Scoring
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.free_floor import free_floor
from sbench_dag.scenes.houses.home import HousePlan, plan_house
from sbench_dag.scenes.houses.resting import Arrangement, Resting
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.source import build_house
from sbench_dag.scenes.houses.spots import Spots
from sbench_dag.scenes.scene import Scene
from sbench_dag.synthetic.posing import pose_all
from sbench_dag.synthetic.scoring import Rule
from sbench_dag.synthetic.story import tell_story
from sbench_dag.synthetic.visibility import Eyes

HOUSE = 2


@pytest.fixture(scope="module")
def plan() -> HousePlan:
    return plan_house(HOUSE)


@pytest.fixture(scope="module")
def scene(plan: HousePlan) -> Scene:
    return build_house(plan)


def judge(scene: Scene, arrangement: Arrangement, uid: str) -> Scoring | None:
    data = pose_all(scene, arrangement)
    return Rule(scene, data, free_floor(scene, data), arrangement).judge(uid)


def settle_at(plan: HousePlan, uid: str, where) -> Arrangement:
    """The house with one thing at the first place that `where(spots, thing, around)` offers."""
    around = plan.home.without(uid)
    for attempt in range(30):
        place = where(Spots(plan.interior, stable_rng("rules", attempt)), plan.home.things[uid], around)
        if place is not None:
            return plan.home.moved(uid, place)
    raise AssertionError(f"no place for {uid}")


def surface_of(plan: HousePlan, slug: str, open_above: bool):
    return next(s for s in plan.interior.surfaces if s.furniture.startswith(slug) and s.is_open_above == open_above)


def first(plan: HousePlan, slug: str) -> str:
    return next(uid for uid in plan.home.things if uid.startswith(f"{slug}_"))


@pytest.mark.parametrize("slug", ["mug", "plate", "can", "remotecontrol", "apple", "butterknife"])
def test_a_graspable_thing_at_the_edge_of_a_table_is_to_be_lifted(plan: HousePlan, scene: Scene, slug: str):
    uid, table = first(plan, slug), surface_of(plan, "coffeetable", True)
    arrangement = settle_at(plan, uid, lambda spots, thing, around: spots.at_edge(thing, table, around))
    assert judge(scene, arrangement, uid) is Scoring.LIFTED


def test_what_is_too_wide_is_only_to_be_reached(plan: HousePlan, scene: Scene):
    wide = [uid for uid, thing in plan.home.things.items() if not thing.graspable]
    assert {judge(scene, plan.home, uid) for uid in wide} <= {Scoring.REACHED_ONLY, None}


def test_what_is_deep_in_a_shelf_or_under_a_board_is_only_to_be_reached(plan: HousePlan, scene: Scene):
    uid = first(plan, "can")
    for slug in ("bookshelf", "countertop"):
        level = surface_of(plan, slug, False)
        arrangement = settle_at(plan, uid, lambda spots, thing, around, s=level: spots.within(thing, s, around))
        assert judge(scene, arrangement, uid) is Scoring.REACHED_ONLY


def test_what_is_inside_another_thing_is_only_to_be_reached_and_so_is_that_thing(plan: HousePlan, scene: Scene):
    holder = next(uid for uid, thing in plan.home.things.items() if thing.room_inside)
    uid = first(plan, "apple")
    arrangement = settle_at(plan, uid, lambda spots, thing, around: spots.inside(thing, holder, around))
    assert arrangement.places[uid].on == arrangement.places[holder].on
    assert judge(scene, arrangement, uid) in (Scoring.REACHED_ONLY, None)
    assert judge(scene, arrangement, holder) in (Scoring.REACHED_ONLY, None)


def test_what_has_a_neighbour_too_near_for_a_hand_is_only_to_be_reached(plan: HousePlan, scene: Scene):
    can, mug, table = first(plan, "can"), first(plan, "mug"), surface_of(plan, "coffeetable", True)
    arrangement = settle_at(plan, can, lambda spots, thing, around: spots.at_edge(thing, table, around))
    at = arrangement.places[can]
    towards = np.sign(np.array(table.rect.centre) - (at.x, at.y))
    beside = replace(at, x=at.x + 0.09 * towards[0], y=at.y + 0.09 * towards[1], z=table.height + 0.0475)
    assert judge(scene, arrangement.moved(mug, beside), can) is Scoring.REACHED_ONLY


def test_what_nobody_can_stand_near_is_not_asked_for(plan: HousePlan, scene: Scene):
    room = plan.interior.rooms[0].room
    corner = Resting(room.x_min + 0.1, room.y_min + 0.1, 3.0, 0.0, 0, "room_0")
    away = replace(corner, x=-3.0, y=-3.0)
    assert judge(scene, plan.home.moved(first(plan, "can"), away), first(plan, "can")) is None


def test_stories_move_each_category_once_or_swap_twins(plan: HousePlan):
    swapped = 0
    for seed in range(12):
        story = tell_story(plan, stable_rng("stories", seed))
        assert 6 <= len([move for event in story.events for move in event.moves]) <= 10
        swaps = [event for event in story.events if len(event.moves) == 2]
        swapped += len(swaps)
        for event in swaps:
            a, b = event.moves
            assert (a.start, a.end) == (b.end, b.start)
            assert plan.home.things[a.uid].category == plan.home.things[b.uid].category
        together = {move.uid for event in swaps for move in event.moves}
        categories = [plan.home.things[uid].category for uid in story.moved - together]
        assert len(set(categories)) == len(categories)
        places = [(p.x, p.y, p.z) for p in story.end.places.values()]
        assert len(set(places)) == 25
    assert swapped > 0


def test_the_contents_of_a_pot_come_along_with_it(plan: HousePlan):
    holder, uid = next(u for u, t in plan.home.things.items() if t.room_inside), first(plan, "apple")
    arrangement = settle_at(plan, uid, lambda spots, thing, around: spots.inside(thing, holder, around))
    there = replace(arrangement.places[holder], x=1.0, y=2.0, room=1, on="room_1")
    moved = arrangement.moved(holder, there).places[uid]
    assert (moved.x, moved.y) == pytest.approx((1.0, 2.0))
    assert (moved.room, moved.on, moved.inside) == (1, "room_1", holder)


@pytest.fixture
def can_in_view(plan: HousePlan, scene: Scene) -> tuple[str, mujoco.MjData, BasePose]:
    """A can on the floor, and an observer 1.5 m away who looks at it."""
    uid = first(plan, "can")
    room = plan.interior.room(0).room
    _, y = room.centre
    for dx in np.arange(room.x_min + 0.5, room.x_max - 2.0, 0.25):
        place = Resting(float(dx), y, 0.061, 0.0, 0, "room_0")
        data = pose_all(scene, plan.home.moved(uid, place))
        base = BasePose(float(dx) + 1.5, y, 0.45, np.pi)
        if uid in Eyes(scene).seen(data, base):
            return uid, data, base
    raise AssertionError("nothing to be seen along the middle of the room")


def test_what_is_before_the_observer_is_seen_and_what_is_behind_is_not(scene: Scene, can_in_view):
    uid, data, base = can_in_view
    assert uid in Eyes(scene).seen(data, base)
    assert uid not in Eyes(scene).seen(data, replace(base, yaw=0.0))
    assert uid not in Eyes(scene).seen(data, replace(base, yaw=np.pi - np.deg2rad(60)))


def test_walls_hide_what_is_in_another_room(plan: HousePlan, scene: Scene):
    data = pose_all(scene, plan.home)
    room = plan.interior.room(0).room
    x, y = room.centre
    outside = BasePose(room.x_min - 2.0, y, 0.45, 0.0) if room.x_min < 1e-6 else BasePose(x, -2.0, 0.45, np.pi / 2)
    inside = {uid for uid, place in plan.home.places.items() if place.room == 0}
    assert not inside & Eyes(scene).seen(data, outside)


def test_what_is_too_far_is_not_seen(scene: Scene, can_in_view):
    uid, data, base = can_in_view
    assert uid not in Eyes(scene).seen(data, replace(base, x=base.x + 6.0))
