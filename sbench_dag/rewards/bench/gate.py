"""Scores a benchmark with a study's reward models, one by one. It runs where gates run, and is none that plans pass."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sbench_dag.errors import InvalidError
from sbench_dag.gate import Gate, Keys
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.rewards.bench.names import scores_file
from sbench_dag.rewards.bench.source import content_of, is_on_the_hub, open_bench
from sbench_dag.rewards.models.base import identity_hash
from sbench_dag.rewards.panel import find_model
from sbench_dag.rewards.score import Score, Status
from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context
    from sbench_dag.rewards.leaderboard import Leaderboard
    from sbench_dag.study import Study

_DAY_S = 24 * 3600.0
_REASONS_SHOWN = 3


def run(context: Context, item: WorkItem) -> Result:
    """The model's row of the leaderboard. Invalid as long as a video has no score; those that have keep theirs."""
    from sbench_dag.rewards.bench.scoring import score_into
    from sbench_dag.rewards.leaderboard import leaderboard
    from sbench_dag.rewards.predictions import gather

    study, name = context.study, item.key
    model = find_model(name)
    if isinstance(model, str):
        raise InvalidError(Reason.NO_SCORE, f"{name} can't be had: {model}")
    data, identity = open_bench(source_of(study), study.rewards.bench_split), identity_hash(model)
    file = scores_file(study.folder / "rewards" / "bench", name, identity)
    scores = score_into(file, name, model, [labelled.example for labelled in data.examples])
    board = leaderboard(gather(data.examples, {name: scores}))
    row = {"identity": identity, "file": str(file.relative_to(study.folder)), **_row(board)}
    missing = [score for score in scores.values() if score.status is Status.MISSING]
    if missing:
        text = (
            f"{name} gave no score of {len(missing)} of {len(scores)} videos ({_why(missing)}); {file} has the others"
        )
        return Result(Outcome.INVALID, Reason.NO_SCORE, text, row)
    return Result(Outcome.SUCCESS, row=row)


def source_of(study: Study) -> str:
    """What study.toml calls the benchmark, as `open_bench` understands it."""
    named = study.rewards.bench
    folder = study.folder / named
    return named if is_on_the_hub(named) and not folder.exists() else str(folder)


def _content(study: Study, name: str) -> str:
    """The model's identity, or what is wrong with it, and the benchmark's questions and labels."""
    model = find_model(name)
    of_model = model if isinstance(model, str) else identity_hash(model)
    return fingerprint(of_model, content_of(source_of(study), study.rewards.bench_split))


def _row(board: Leaderboard) -> dict[str, Any]:
    """`rows`: the model among the baselines, the least wrong first. Group-wise errors, 95 % intervals."""
    [mine] = board.models
    rows = [
        {
            "name": row.name,
            "is_model": row is mine,
            "mae": row.group_wise.value,
            "interval": row.group_wise.interval,
            "skill": row.group_wise.skill,
        }
        for row in board.rows
    ]
    return {
        "n": board.n,
        "clusters": board.clusters,
        "unparseable": mine.statuses[Status.UNPARSEABLE],
        "missing": mine.statuses[Status.MISSING],
        "rows": rows,
    }


def _why(missing: list[Score]) -> str:
    """The most frequent reasons."""
    counts = Counter(score.why for score in missing).most_common(_REASONS_SHOWN)
    return "; ".join(f"{count} x {why}" for why, count in counts)


REWARD_BENCH = Gate(
    name="reward_bench",
    description="Scores study.toml's benchmark with each reward model, and says how far off it is, beside baselines.",
    keys=Keys.MODEL,
    code_version="1",
    modules=tuple(
        f"sbench_dag.{name}"
        for name in (
            "rewards.bench.gate",
            "rewards.bench.data",
            "rewards.bench.roboreward",
            "rewards.bench.helm_data",
            "rewards.predictions",
            "rewards.metrics",
            "rewards.baselines",
            "rewards.leaderboard",
            "stats.bootstrap",
        )
    ),
    upstream=(),
    settings=lambda study: (study.rewards.bench, study.rewards.bench_split),
    run=run,
    cost_s=600.0,
    content=_content,
    timeout_s=_DAY_S,
)
