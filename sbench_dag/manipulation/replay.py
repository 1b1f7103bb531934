"""Simulating a stored rollout again: the states must be the same, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sbench_dag.context import Context
from sbench_dag.errors import SetupError
from sbench_dag.manipulation.gate import picks_of
from sbench_dag.manipulation.rollout import Rollout
from sbench_dag.manipulation.video import VideoWriter
from sbench_dag.study import Study


@dataclass(frozen=True)
class Replay:
    """Hashes of the simulator's state at the end: as stored, and now."""

    stored: str
    replayed: str

    @property
    def identical(self) -> bool:
        return self.stored == self.replayed


def replay(study: Study, key: str, video: Path | None, size: tuple[int, int]) -> Replay:
    """Rolls the plan out again without touching the store.

    Raises:
        SetupError: Stage C has no rollout of it.
    """
    context = Context(study)
    plan = context.plan(key)
    stored = context.upstream("stage_c", key).row.get("final_state")
    if stored is None:
        raise SetupError(f"{key}: stage C has no rollout of it to replay")
    settings = replace(study.video, width=size[0], height=size[1])
    writer = VideoWriter(video, *size) if video else None
    world = context.world(plan.episode)
    rollout = Rollout(world, context.policy, study.policy, writer, settings)
    rollout.run(picks_of(context, plan), plan.gt_bodies, f"Pick up the {plan.category}")
    if writer is not None:
        writer.close()
    return Replay(stored, world.state_hash())
