"""Gate G0: rebuild the scene, restore the end state, settle it, and check that it is the episode's."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from sbench_dag.errors import InvalidError
from sbench_dag.gate import Gate, Keys
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.scenes.checks import check_world, unsupported
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context


def run(context: Context, item: WorkItem) -> Result:
    """Success, or invalid with the checks that failed. The row says which queries' truth the world contradicts."""
    world = context.world(item.key)
    checks = check_world(world, context.study.restore)
    queries = {query.query: "; ".join(unsupported(world, query)) for query in world.episode.eval_spec.queries}
    row = {
        "checks": [asdict(check) for check in checks],
        "contradicted": {q: why for q, why in queries.items() if why},
    }
    failed = [
        f"{c.check} is {c.value}, limit {c.limit}{f' ({c.detail})' if c.detail else ''}" for c in checks if not c.passed
    ]
    if failed:
        return Result(Outcome.INVALID, Reason.G0_FAILED, "; ".join(failed), row)
    return Result(Outcome.SUCCESS, row=row)


def require_sound(context: Context, episode: str, query: str, gt_bodies: tuple[str, ...]) -> None:
    """What every later gate asks first.

    Raises:
        InvalidError: G0 failed for the episode, or found the truth of this query contradicted.
    """
    row = context.upstream("g0_spike", episode).row
    why = row["contradicted"].get(query)
    if why:
        missing = not set(gt_bodies) <= set(context.world(episode).restored.matched)
        raise InvalidError(Reason.GT_NOT_RESTORED if missing else Reason.GT_NOT_SUPPORTED, f"{episode}: {why}")


G0_SPIKE = Gate(
    name="g0_spike",
    description="Rebuilds each episode's scene, restores its end state and checks that both are the episode's.",
    keys=Keys.EPISODE,
    code_version="1",
    modules=(
        "sbench_dag.scenes",
        "sbench_dag.robot.fr3",
        "sbench_dag.robot.frames",
        "sbench_dag.robot.robot",
        "sbench_dag.dataset.episode",
        "sbench_dag.dataset.eval_spec",
        "sbench_dag.dataset.fields",
    ),
    upstream=(),
    settings=lambda study: study.restore,
    run=run,
)
