"""Grounding of a plan: each selection's anchor, the instance perceived there, and the base pose taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Steps
from sbench_dag.grounding.anchor import GroundingFailure, find_anchor, instances_on
from sbench_dag.grounding.standing import stand_at_anchor, stand_near_object
from sbench_dag.outcomes import Reason
from sbench_dag.plans.plan import Plan
from sbench_dag.robot.robot import BasePose
from sbench_dag.scenes.world import World
from sbench_dag.study import NavigationSettings


@dataclass(frozen=True)
class Distance:
    """From the base to a ground-truth body, in metres: over the floor, and in space."""

    body: str
    horizontal_m: float
    spatial_m: float


@dataclass(frozen=True)
class Grounded:
    """What became of one selection.

    approached: uid of the instance that the robot perceived and went to; None where it perceived none.
    failure: why the selection could not be grounded; then there is no base and no distance.
    """

    selection: Selection
    anchor: str | None
    ambiguous: bool
    approached: str | None
    base: BasePose | None
    distances: tuple[Distance, ...]
    failure: Reason | None
    message: str

    def reached(self, r_support_m: float) -> frozenset[str]:
        """The ground-truth bodies within r_support_m of the base."""
        return frozenset(d.body for d in self.distances if d.horizontal_m <= r_support_m)


def ground(world: World, plan: Plan, settings: NavigationSettings) -> list[Grounded]:
    """One entry per selection, in the plan's order. The truth is used for measuring, never for deciding."""
    approached: set[tuple[str, str]] = set()
    return [_ground_one(world, plan, selection, settings, approached) for selection in plan.selections]


def plan_reached(plan: Plan, grounded: Iterable[Grounded]) -> bool:
    """Single: any ground-truth body was reached; several steps: all of them were."""
    reached = frozenset[str]().union(*(g.reached(plan.r_support_m) for g in grounded))
    return reached >= set(plan.gt_bodies) if plan.steps is Steps.MULTI else bool(reached)


def _ground_one(
    world: World,
    plan: Plan,
    selection: Selection,
    settings: NavigationSettings,
    approached: set[tuple[str, str]],
) -> Grounded:
    label, ambiguous, instance = None, False, None
    try:
        anchor = find_anchor(world, selection, plan.category)
        label, ambiguous = anchor.label, anchor.ambiguous
        # a later selection of the same place takes the next instance there
        left = [u for u in instances_on(world, anchor, plan.category) if (label, u) not in approached]
        instance = left[0] if left else None
        if instance is None:
            base = stand_at_anchor(world, anchor, settings)
        else:
            approached.add((label, instance))
            base = stand_near_object(world, instance, settings)
    except GroundingFailure as failure:
        return Grounded(selection, label, ambiguous, instance, None, (), failure.reason, str(failure))
    return Grounded(selection, label, ambiguous, instance, base, _distances(world, plan, base), None, "")


def _distances(world: World, plan: Plan, base: BasePose) -> tuple[Distance, ...]:
    found = []
    for body in plan.gt_bodies:
        away = world.object_position(body) - base.position
        horizontal, spatial = float(np.hypot(away[0], away[1])), float(np.linalg.norm(away))
        found.append(Distance(body, round(horizontal, 6), round(spatial, 6)))
    return tuple(found)
