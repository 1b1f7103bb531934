"""Contacts made on purpose are seen for what they are."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sbench_dag.context import Context
from sbench_dag.manipulation.trace import Observer, Touch, read_trace, write_trace
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.world import World
from tests.blocks import blocks_study
from tests.traces import trace_of


@pytest.fixture
def world(home: Path) -> World:
    study = blocks_study(home, 2)
    world = Context(study).world(study.manifest.episodes[0])
    world.reset(BasePose(2.0, 2.0, 0.3, 0.0))
    return world


def put(world: World, uid: str, position: np.ndarray) -> None:
    start = world.scene.objects[uid].qpos
    world.data.qpos[start : start + 3] = position
    mujoco.mj_forward(world.model, world.data)


def touches(world: World) -> dict[str, Touch]:
    observer = Observer(world.scene)
    return {name: Touch(int(flag)) for name, flag in zip(observer.names, observer.touches(world.data), strict=True)}


def test_a_block_on_the_floor_touches_what_is_static(world: World):
    assert touches(world) == {"block_0": Touch.STATIC, "block_1": Touch.STATIC}


def test_a_block_in_the_air_touches_nothing(world: World):
    put(world, "block_0", np.array([0.0, 0.0, 1.0]))
    assert touches(world)["block_0"] == Touch(0)


def test_a_block_between_the_fingers_touches_the_robot_only(world: World):
    robot, data = world.scene.robot, world.data
    robot.set_arm(data, data.qpos[robot.arm_qpos].copy(), 0.048)
    mujoco.mj_forward(world.model, data)
    put(world, "block_0", data.site_xpos[robot.tcp_site])
    assert touches(world)["block_0"] == Touch.ROBOT


def test_a_block_on_another_touches_that_and_not_the_floor(world: World):
    put(world, "block_0", world.object_position("block_1") + (0.0, 0.0, 0.0499))
    assert touches(world)["block_0"] == Touch.OBJECT
    assert touches(world)["block_1"] == Touch.OBJECT | Touch.STATIC


def test_a_trace_is_read_back_as_it_was_written(tmp_path: Path):
    trace = trace_of({"bowl": [0.0, 0.1]})
    write_trace(tmp_path / "t.npz", trace)
    again = read_trace(tmp_path / "t.npz")
    for name, value in vars(trace).items():
        np.testing.assert_array_equal(getattr(again, name), value)


def test_the_same_trace_is_the_same_file(tmp_path: Path):
    for name in ("a.npz", "b.npz"):
        write_trace(tmp_path / name, trace_of({"bowl": [0.0, 0.1]}))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
