"""Houses as plans: no physics needed."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from sbench_dag.scenes.houses.access import all_accessible
from sbench_dag.scenes.houses.floorplan import DOOR_WIDTH_M
from sbench_dag.scenes.houses.furnish import DOOR_DEPTH_M
from sbench_dag.scenes.houses.geometry import Rect
from sbench_dag.scenes.houses.home import HousePlan, plan_house
from sbench_dag.scenes.houses.plan import KINDS_MIN, OBJECTS
from sbench_dag.scenes.houses.resting import gap, hand_gap

INDICES = (*range(18), 1000, 2003)


@pytest.fixture(scope="module")
def houses() -> list[HousePlan]:
    return [plan_house(index) for index in INDICES]


def test_a_house_is_a_function_of_its_index(houses: list[HousePlan]):
    assert plan_house(INDICES[3]) == houses[3]
    assert houses[3].interior != houses[4].interior


def test_every_house_has_three_to_six_rooms_of_different_names(houses: list[HousePlan]):
    counts = Counter(len(house.interior.rooms) for house in houses)
    assert set(counts) == {3, 4, 5, 6}
    for house in houses:
        names = [room.name for room in house.interior.rooms]
        assert len(set(names)) == len(names) and "kitchen" in names
        assert [room.room.index for room in house.interior.rooms] == list(range(len(names)))


def test_rooms_tile_the_footprint(houses: list[HousePlan]):
    for house in houses:
        rooms = [room.room for room in house.interior.rooms]
        area = sum((r.x_max - r.x_min) * (r.y_max - r.y_min) for r in rooms)
        assert area == pytest.approx(max(r.x_max for r in rooms) * max(r.y_max for r in rooms))
        rects = [Rect(r.x_min, r.y_min, r.x_max, r.y_max) for r in rooms]
        assert not any(a.overlaps(b) for a, b in itertools.combinations(rects, 2))


def test_doorways_connect_all_rooms_and_lead_to_every_piece_of_furniture(houses: list[HousePlan]):
    for house in houses:
        found, todo = {0}, [0]
        while todo:
            here = todo.pop()
            near = {room for door in house.interior.doors if here in door.rooms for room in door.rooms} - found
            found |= near
            todo += near
        assert found == {room.room.index for room in house.interior.rooms}
        assert all_accessible(house.interior.rooms, house.interior.doors, house.interior.pieces)
    assert DOOR_WIDTH_M >= 1.0


def test_a_blocked_doorway_is_noticed(houses: list[HousePlan]):
    house = next(house.interior for house in houses if len(house.interior.rooms) == 3)
    assert not all_accessible(house.rooms, house.doors[:1], house.pieces)


def test_every_house_has_ten_kinds_of_furniture_and_all_houses_twenty(houses: list[HousePlan]):
    kinds = [{piece.kind.slug for piece in house.interior.furniture} for house in houses]
    assert min(len(kind) for kind in kinds) >= KINDS_MIN
    assert len(set().union(*kinds)) >= 20


def test_a_kind_stands_in_two_rooms_of_some_house_and_twice_in_a_room_of_another(houses: list[HousePlan]):
    twice_in_house, twice_in_room = False, False
    for house in houses:
        kinds = Counter(piece.kind.slug for piece in house.interior.furniture)
        rooms = Counter((piece.kind.slug, piece.room) for piece in house.interior.furniture)
        twice_in_room |= max(rooms.values()) > 1
        twice_in_house |= max(kinds.values()) > max(rooms.values())
    assert twice_in_house and twice_in_room


def test_shelves_have_several_levels_with_little_above_them(houses: list[HousePlan]):
    for house in houses:
        for piece in house.interior.furniture:
            if piece.kind.slug == "bookshelf":
                assert len(piece.surfaces) == 5
                assert all(surface.clearance < 0.5 for surface in piece.surfaces)


def test_furniture_keeps_out_of_doorways_and_of_the_way_to_other_furniture(houses: list[HousePlan]):
    for house in houses:
        standing = [piece for piece in house.interior.pieces if piece.kind.slug != "kitchencabinet"]
        for door in house.interior.doors:
            assert not any(piece.footprint.overlaps(door.zone(DOOR_DEPTH_M - 0.01)) for piece in standing)
        for a, b in itertools.permutations(standing, 2):
            assert not a.footprint.overlaps(b.footprint)
            assert a.room != b.room or not a.access.overlaps(b.footprint)


def test_every_house_has_exactly_25_things_of_at_least_12_categories_with_twins(houses: list[HousePlan]):
    for house in houses:
        things = house.home.things.values()
        counts = Counter(thing.category for thing in things)
        assert len(things) == OBJECTS == len(house.home.places)
        assert len(counts) >= 12
        assert sum(n > 1 for n in counts.values()) >= 3 and max(counts.values()) <= 4
        assert any(not thing.graspable for thing in things)


def test_a_uid_says_category_number_and_first_room(houses: list[HousePlan]):
    for house in houses:
        for uid, place in house.home.places.items():
            slug, _, room = re.fullmatch(r"([a-z]+)_(\d)_(\d)", uid).groups()
            assert slug == house.home.things[uid].slug and int(room) == place.room


def test_things_lie_wholly_on_their_surface_and_apart(houses: list[HousePlan]):
    for house in houses:
        surfaces = {surface.uid: surface for surface in house.interior.surfaces}
        for uid, place in house.home.places.items():
            thing, surface = house.home.things[uid], surfaces[place.on]
            assert surface.rect.holds(Rect.around(place.x, place.y, 0.0, 0.0).grown(thing.radius))
            assert place.z - thing.height / 2 == pytest.approx(surface.height)
            assert thing.height < surface.clearance
            for other, at in house.home.places.items():
                if other != uid and abs(at.z - place.z) < 0.3:
                    near = gap(thing, place.x, place.y, house.home.things[other], at)
                    open_above = surface.is_open_above and surfaces[at.on].is_open_above
                    assert near >= (hand_gap(thing, house.home.things[other]) - 1e-6 if open_above else 0.02)
