"""Episodes as they were recorded: the truth is what the physics say."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.scenes.checks import check_world, unsupported
from sbench_dag.scenes.houses.source import HouseSource
from sbench_dag.scenes.world import World
from sbench_dag.study import RestoreSettings


@pytest.fixture(scope="module")
def worlds(made_test: Dataset) -> list[World]:
    return [World(HouseSource(), made_test.episode(name), settle_s=1.0) for name in made_test.episodes]


def test_the_true_places_are_those_that_the_settled_things_rest_on(worlds: list[World]):
    for world in worlds:
        for query in world.episode.eval_spec.queries:
            assert list(unsupported(world, query)) == []


def test_every_check_of_gate_g0_passes(worlds: list[World]):
    for world in worlds:
        assert [check for check in check_world(world, RestoreSettings()) if not check.passed] == []


def test_nothing_moves_in_the_second_after_the_end(worlds: list[World]):
    for world in worlds:
        state = world.episode.end_state.bodies
        for name, position in zip(state.names, state.position, strict=True):
            assert np.linalg.norm(world.object_position(name) - position) < 1e-3


def test_only_what_an_event_names_moves_and_only_during_it(made_test: Dataset):
    for name in made_test.episodes:
        trajectory = made_test.episode(name).trajectory
        position = trajectory.bodies.position
        busy = np.zeros(position.shape[:2], dtype=bool)
        for event in trajectory.events:
            busy[event.first_frame : event.last_frame + 1, trajectory.bodies.names.index(event.body)] = True
        moved = np.linalg.norm(np.diff(position, axis=0), axis=2) > 2e-3
        assert not (moved & ~busy[1:] & ~busy[:-1]).any()


def test_a_thing_is_carried_on_an_arc_and_ends_where_it_lies(made_test: Dataset):
    for name in made_test.episodes:
        trajectory = made_test.episode(name).trajectory
        assert 6 <= len(trajectory.events) <= 10
        for event in trajectory.events:
            body = trajectory.bodies.names.index(event.body)
            height = trajectory.bodies.position[event.first_frame : event.last_frame + 1, body, 2]
            assert len(height) >= 4
            assert height[:-1].max() > max(height[-1], trajectory.bodies.position[event.first_frame - 1, body, 2]) + 0.1


def test_the_observer_stays_in_the_house_and_walks_at_a_human_pace(made_test: Dataset, worlds: list[World]):
    for name, world in zip(made_test.episodes, worlds, strict=True):
        trajectory = made_test.episode(name).trajectory
        steps = np.linalg.norm(np.diff(trajectory.base_pose[:-1, :2], axis=0), axis=1)
        assert (steps / np.diff(trajectory.time_s)[:-1]).max() < 3.0
        assert all(world.scene.room_at(x, y) is not None for x, y in trajectory.base_pose[:, :2])
        assert world.free_floor.is_free(*trajectory.base_pose[-1, :2])


def test_floor_answers_have_no_room_and_other_answers_have_one(made_mini: Dataset):
    specs = [made_mini.episode(name).eval_spec for name in made_mini.episodes]
    answers = [answer for spec in specs for query in spec.queries for answer in query.answers]
    assert any(answer.surface == FLOOR for answer in answers)
    assert all((answer.room is None) == (answer.surface == FLOOR) for answer in answers)
