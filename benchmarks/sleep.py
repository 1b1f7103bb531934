"""Does letting bodies sleep change verdicts? `python -m benchmarks.sleep [--study NAME] [--plans N]`.

Rolls the picks of a study out twice, with sleeping and without, and compares verdicts and times. Nothing is stored.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np
from tqdm import tqdm

from sbench_dag.context import Context
from sbench_dag.manipulation.gate import is_rolled_out, picks_of
from sbench_dag.manipulation.judge import Verdict, judge
from sbench_dag.manipulation.rollout import Rollout
from sbench_dag.scenes.sources import open_source
from sbench_dag.scenes.world import World
from sbench_dag.study import PhysicsSettings, find_study


@dataclass(frozen=True)
class Outcome:
    verdict: Verdict
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", help="needed only if there are several; its stage B must have run")
    parser.add_argument("--plans", type=int, default=10_000)
    arguments = parser.parse_args()
    study = find_study(arguments.study)
    context = Context(study)
    plans = [plan for plan in study.manifest.plans if plan.scoring == "lifted" and is_rolled_out(context, plan)]
    keys = [plan.key for plan in plans][: arguments.plans]
    asleep, awake = (_roll_out(context, keys, sleep) for sleep in (True, False))
    for name in ("success", "success_held", "success_at_end"):
        flips = [k for k in keys if getattr(asleep[k].verdict, name) != getattr(awake[k].verdict, name)]
        rate = sum(getattr(asleep[k].verdict, name) for k in keys)
        print(f"{name:15} {rate} of {len(keys)} with sleep; {len(flips)} flip without: {', '.join(flips) or '-'}")
    lifts = [
        abs(a.highest_lift_m - b.highest_lift_m)
        for k in keys
        for a, b in zip(asleep[k].verdict.bodies, awake[k].verdict.bodies, strict=True)
    ]
    print(f"difference of the highest lift: median {np.median(lifts):.1e} m, most {max(lifts):.1e} m")
    for name, found in (("with sleep", asleep), ("without", awake)):
        print(f"{name:15} {np.mean([found[k].seconds for k in keys]):.3f} s a plan")


def _roll_out(context: Context, keys: list[str], sleep: bool) -> dict[str, Outcome]:
    study = replace(context.study, physics=PhysicsSettings(sleep))
    source = open_source(study.scene_source, study.dataset.root, sleep)
    world, found = None, {}
    for key in tqdm(keys, "sleep" if sleep else "no sleep"):
        plan = context.plan(key)
        if world is None or world.episode.name != plan.episode:
            world = World(source, study.dataset.episode(plan.episode), study.restore.settle_s)
        started = time.perf_counter()
        rollout = Rollout(world, context.policy, study.policy, None, study.video)
        trace = rollout.run(picks_of(context, plan), plan.gt_bodies, plan.text)
        verdict = judge(trace, plan.gt_bodies, plan.steps, study.judge)
        found[key] = Outcome(verdict, time.perf_counter() - started)
    return found


if __name__ == "__main__":
    main()
