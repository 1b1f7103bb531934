"""Stage C without video against raw mj_step: `python -m benchmarks.stage_c [--study NAME] [--plans N]`.

For each plan the rollout is timed whole (reset, planning, control loop, recording, judging), and then the same
controls are stepped again by bare mj_step calls. The first plan of an episode, which builds the world, is listed
apart. Nothing is stored.
"""

from __future__ import annotations

import argparse
import resource
import time

import mujoco
import numpy as np
from tqdm import tqdm

from sbench_dag.context import Context
from sbench_dag.manipulation.gate import is_rolled_out, picks_of
from sbench_dag.manipulation.judge import judge
from sbench_dag.manipulation.policy import SUBSTEPS
from sbench_dag.manipulation.rollout import Rollout
from sbench_dag.manipulation.trace import Trace
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.world import World
from sbench_dag.study import find_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", help="needed only if there are several; its stage B must have run")
    parser.add_argument("--plans", type=int, default=100)
    arguments = parser.parse_args()
    study = find_study(arguments.study)
    context = Context(study)
    plans = [plan for plan in study.manifest.plans if plan.scoring == "lifted" and is_rolled_out(context, plan)]
    builds, resets, wholes, raws, steps = [], [], [], [], 0
    for plan in tqdm(plans[: arguments.plans]):
        started = time.perf_counter()
        world = context.world(plan.episode)
        builds.append(time.perf_counter() - started)
        picks = picks_of(context, plan)
        started = time.perf_counter()
        world.reset(picks[0].base)
        resets.append(time.perf_counter() - started)
        started = time.perf_counter()
        rollout = Rollout(world, context.policy, study.policy, None, study.video)
        trace = rollout.run(picks, plan.gt_bodies, plan.text)
        judge(trace, plan.gt_bodies, plan.steps, study.judge)
        wholes.append(time.perf_counter() - started)
        raws.append(_raw_steps(world, trace))
        steps += SUBSTEPS * len(trace.time_s)
    built = [b for b in builds if b > 0.01]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"plans                          {len(wholes)}")
    print(f"whole rollout / raw mj_step    {sum(wholes) / sum(raws):.2f}")
    print(f"whole rollout                  {np.mean(wholes):.3f} s a plan (most: {max(wholes):.3f})")
    print(f"raw mj_step                    {np.mean(raws):.3f} s a plan, {steps / sum(raws):,.0f} steps/s")
    print(f"set-up of a later plan         {1000 * np.mean(resets):.1f} ms")
    print(f"building an episode's world    {np.mean(built):.2f} s ({len(built)} episodes)")
    print(f"peak memory                    {peak:,.0f} MiB")


def _raw_steps(world: World, trace: Trace) -> float:
    """Seconds for the controls of a trace, selection by selection, with nothing but mj_step in between."""
    model, data, robot = world.model, world.data, world.scene.robot
    commands = trace.command.astype(float)
    seconds = 0.0
    for selection, base in enumerate(trace.base):
        world.reset(BasePose(*base))
        mine = commands[trace.selection == selection]
        started = time.perf_counter()
        for command in mine:
            robot.command(data, command[:7], command[7])
            mujoco.mj_step(model, data, SUBSTEPS)
        seconds += time.perf_counter() - started
    return seconds


if __name__ == "__main__":
    main()
