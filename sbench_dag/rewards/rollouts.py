"""A study's rollouts as a benchmark: labelled by the simulator, which knows."""

from __future__ import annotations

from sbench_dag.errors import SetupError
from sbench_dag.reports.grid import Results
from sbench_dag.rewards.bench.data import BenchData
from sbench_dag.rewards.example import Example, LabelledExample


def rollouts(results: Results) -> BenchData:
    """Examples by their plan's key. A subset is a kind of question, and a cluster an episode, whose house they share.

    Raises:
        SetupError: no rollout has a label yet.
    """
    study = results.study
    examples = [
        LabelledExample(
            Example(key, study.folder / (line.row["video"] or {"file": f"videos/{key}.mp4"})["file"], plan.text),
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
