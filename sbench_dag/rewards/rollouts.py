"""A study's rollouts as a benchmark: labelled by the simulator, which knows."""

from __future__ import annotations

from sbench_dag.errors import SetupError
from sbench_dag.reports.grid import Results
from sbench_dag.rewards.bench.data import BenchData
from sbench_dag.rewards.example import Example, LabelledExample
from sbench_dag.rewards.goal import goal_of
from sbench_dag.rewards.leaderboard import Leaderboard, leaderboard
from sbench_dag.rewards.predictions import gather
from sbench_dag.rewards.score import Score, Status
from sbench_dag.stats.bootstrap import RESAMPLES


def rollout_scores(results: Results) -> dict[str, dict[str, Score]]:
    """What each of the study's models said, by the plan's key: model -> key -> score, without its protocol."""
    found: dict[str, dict[str, Score]] = {name: {} for name in results.study.rewards.models}
    for key, line in results.of("rollout_rewards").items():
        for name, row in line.row.get("scores", {}).items():
            found[name][key] = Score(**{**row, "status": Status(row["status"])})
    return found


def rollout_board(results: Results, resamples: int = RESAMPLES, seed: int = 0) -> Leaderboard | None:
    """The leaderboard of a study's models over its rollouts; None as long as no rollout has a label."""
    try:
        examples = rollouts(results).examples
    except SetupError:
        return None
    return leaderboard(gather(examples, rollout_scores(results)), resamples, seed)


def rollouts(results: Results) -> BenchData:
    """Examples by their plan's key; the task is what the policy was told, which the label judges. A subset is a kind of
    question, and a cluster an episode, whose house its rollouts share.

    Raises:
        SetupError: no rollout has a label yet.
    """
    study = results.study
    examples = [
        LabelledExample(
            Example(
                key,
                study.folder / (line.row["video"] or {"file": f"videos/{key}.mp4"})["file"],
                goal_of(plan, results.of("stage_c")[key].row["instances"]).text,
            ),
            line.row["label"],
            plan.kind.removeprefix("find_"),
            plan.episode,
        )
        for key, line in sorted(results.of("rollout_rewards").items())
        if "label" in line.row and (plan := study.manifest.by_key.get(key))
    ]
    if not examples:
        raise SetupError(f"{study.name}: no rollout has a label yet; python -m assets run --study {study.name}")
    return BenchData(f"rollouts of {study.name}", tuple(examples))
