"""What the negatives are worth: the small model trained with all of them, with some, and with none.

All are tested on the same split, beside what has to be beaten: every constant, the rule that knows a video's length
alone, and the same model that gets the instruction and no picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from sbench_dag.rewards.baselines import constant
from sbench_dag.rewards.models.clip_length import fit_thresholds
from sbench_dag.rewards.score import LABELS
from sbench_dag.rewards.small.data import Split
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.train import predict, train
from sbench_dag.stats.bootstrap import cluster_bootstrap, interval

FULL, CLIP, COUNTERFACTUAL = KINDS = ("full", "clip", "counterfactual")


@dataclass(frozen=True)
class Arm:
    """What a model is trained on. paper: the MAE of RoboReward 4B trained so, on RoboRewardBench (arXiv 2601.00675)."""

    name: str
    kinds: tuple[str, ...]
    paper: float | None = None
    sees: bool = True


ARMS = (
    Arm("full", KINDS, 0.845),
    Arm("without clipping", (FULL, COUNTERFACTUAL), 1.075),
    Arm("without negatives", (FULL,), 1.450),
    Arm("full, instruction alone", KINDS, sees=False),
)


@dataclass(frozen=True)
class Row:
    """How far off one predictor is on the test split.

    mae: over seeds. seeds: of each. low, high: of mae, 95 %, by drawing clusters. by_kind: mae of each kind of video.
    learnt_from: how many videos.
    """

    name: str
    mae: float
    low: float
    high: float
    seeds: tuple[float, ...]
    by_kind: Mapping[str, float]
    learnt_from: int
    paper: float | None


@dataclass(frozen=True)
class Ablation:
    """n videos of so many clusters are the test split. settings: of the first seed."""

    rows: tuple[Row, ...]
    n: int
    clusters: int
    settings: Settings


def ablate(
    splits: Mapping[str, Split],
    settings: Settings,
    seeds: Sequence[int],
    device: torch.device,
    progress: Callable[[str], None] | None = None,
) -> Ablation:
    """splits: train, val, test. The validation split of an arm has no other kinds than what it learns from."""
    if not seeds:
        raise ValueError("no seeds: at least one training of each is needed")
    test = splits["test"]
    rows = [_row(f"always {score}", [constant(test.labels, score).errors], test) for score in LABELS]
    rows.append(
        _row("clip length", [np.abs(by_length(splits["train"], test) - test.labels)], test, len(splits["train"]))
    )
    for arm in ARMS:
        learn, validate = (_for_arm(splits[name], arm).of_kinds(arm.kinds) for name in ("train", "val"))
        errors = []
        for seed in seeds:
            trained = train(learn.to(device), validate.to(device), replace(settings, seed=seed), device)
            predicted = predict(trained.network, trained.words, _for_arm(test, arm), device)
            errors.append(np.abs(predicted - test.labels))
            if progress is not None:
                progress(f"{arm.name}, seed {seed}: {errors[-1].mean():.3f} after {trained.epoch} epochs")
        rows.append(_row(arm.name, errors, test, len(learn), arm.paper))
    return Ablation(tuple(rows), len(test), len(set(test.clusters)), replace(settings, seed=seeds[0]))


def _for_arm(split: Split, arm: Arm) -> Split:
    return split if arm.sees else split.unseen()


def by_length(learn: Split, test: Split) -> np.ndarray:
    """(n,) scores of the rule that is fitted to the lengths of what there is to learn from."""
    thresholds = fit_thresholds(learn.durations_s.tolist(), learn.labels.tolist())
    return LABELS[0] + (test.durations_s[:, None] >= np.array(thresholds)).sum(axis=1)


def _row(name: str, errors: Sequence[np.ndarray], test: Split, learnt_from: int = 0, paper: float | None = None) -> Row:
    """errors: one array (n,) per seed."""
    mean = np.mean(errors, axis=0)
    drawn = cluster_bootstrap(mean[:, None], np.zeros(len(test)), test.clusters).pooled[:, 0]
    low, high = interval(drawn) or (float("nan"),) * 2
    by_kind = {kind: float(mean[test.kinds == kind].mean()) for kind in KINDS if (test.kinds == kind).any()}
    seeds = tuple(float(one.mean()) for one in errors)
    return Row(name, float(mean.mean()), low, high, seeds, by_kind, learnt_from, paper)


def ablation_table(found: Ablation) -> str:
    """As Markdown."""
    lines = [
        f"{found.n} test videos of {found.clusters} houses; frames of {found.settings.size} pixels, "
        f"width {found.settings.width}; 95 % intervals from drawing houses.",
        "",
        "| | learnt from | MAE | 95 % | seeds | full | clip | counterfactual | paper, 4B |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found.rows:
        seeds = " ".join(f"{mae:.3f}" for mae in row.seeds) if len(row.seeds) > 1 else ""
        kinds = " | ".join(f"{row.by_kind[kind]:.3f}" if kind in row.by_kind else "" for kind in KINDS)
        learnt, paper = row.learnt_from or "", "" if row.paper is None else f"{row.paper:.3f}"
        lines.append(
            f"| {row.name} | {learnt} | {row.mae:.3f} | {row.low:.3f} to {row.high:.3f} | {seeds} | {kinds} | {paper} |"
        )
    return "\n".join(lines)
