"""Inverse kinematics finds joint positions that forward kinematics confirms, or says that there are none."""

from __future__ import annotations

import numpy as np
import pytest

from sbench_dag.robot.fr3 import HOME, LOWER, UPPER, robot_model
from sbench_dag.robot.kinematics import POSITION_TOLERANCE_M, ArmKinematics


@pytest.fixture(scope="module")
def arm() -> ArmKinematics:
    return ArmKinematics()


def test_what_it_finds_is_where_it_should_be_and_within_the_limits(arm: ArmKinematics):
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        position, rotation = arm.forward(rng.uniform(LOWER + 0.1, UPPER - 0.1))
        solved = arm.inverse(position, rotation, HOME)
        if solved is None:
            continue
        found += 1
        assert np.linalg.norm(arm.forward(solved)[0] - position) < POSITION_TOLERANCE_M
        assert (solved >= LOWER).all() and (solved <= UPPER).all()
    assert found > 60, "most random poses are reachable from home"


def test_out_of_reach_is_none(arm: ArmKinematics):
    _, rotation = arm.forward(HOME)
    assert arm.inverse(np.array([2.0, 0.0, 0.5]), rotation, HOME) is None


def test_at_home_the_hand_points_down_in_front(arm: ArmKinematics):
    position, rotation = arm.forward(HOME)
    assert 0.15 < position[0] < 0.35
    assert rotation[2, 2] < -0.99


def test_the_arm_weighs_what_franka_says():
    model = robot_model()
    masses = [model.body(f"robot/link{i}").mass[0] for i in range(1, 8)]
    assert masses == pytest.approx([2.92747, 2.93554, 2.2449, 2.6156, 2.32712, 1.81704, 0.627143])
