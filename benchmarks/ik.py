"""What inverse kinematics costs a pick: `python -m benchmarks.ik [--picks 50]`.

A pick's path has 11 way-points: the grasp, solved from home, and five up along the approach and five along the lift,
each solved from its neighbour.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sbench_dag.robot.fr3 import HOME
from sbench_dag.robot.frames import roll_matrix, yaw_matrix
from sbench_dag.robot.kinematics import ArmKinematics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picks", type=int, default=50)
    arguments = parser.parse_args()
    arm = ArmKinematics()
    seconds, solved = [], 0
    for seed in range(arguments.picks):
        started = time.perf_counter()
        solved += _follow(arm, np.random.default_rng(seed))
        seconds.append(time.perf_counter() - started)
    print(
        f"{1000 * np.mean(seconds):.1f} ms a path (most: {1000 * max(seconds):.1f}), {solved} of {len(seconds)} solved"
    )


def _follow(arm: ArmKinematics, rng: np.random.Generator) -> bool:
    grasp = np.array([rng.uniform(0.4, 0.6), rng.uniform(-0.2, 0.2), rng.uniform(-0.1, 0.2)])
    rotation = yaw_matrix(rng.uniform(-0.8, 0.8)) @ roll_matrix(np.pi)
    at_grasp = arm.inverse(grasp, rotation, HOME)
    if at_grasp is None:
        return False
    for _ in ("approach", "lift"):
        q = at_grasp
        for k in range(1, 6):
            q = arm.inverse(grasp + (0, 0, 0.02 * k), rotation, q)
            if q is None:
                return False
    return True


if __name__ == "__main__":
    main()
