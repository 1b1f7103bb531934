"""The README of a data set that was made from rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sbench_dag.rewards.score import LABELS

_TEXT = """\
---
task_categories: [robotics, video-classification]
license: apache-2.0
---

# Robot videos, labelled by the simulator

Made by `sbench rewards make-dataset` from {about}.

`<split>/metadata.jsonl` has a line for each video: `file_name`, `task` (the instruction) and `reward` (1 to 5), as in
RoboReward. Besides: `kind` (`full`, `clip`: cut after `cut_s` seconds, `counterfactual`: another instruction, `what`
says which), `subset`, `cluster` (the house: its videos are not independent, and it is in one split only), `episode`,
`plan` and `duration_s`. No label is anybody's opinion: docs/reward-training.md of sbench-dag has the rules.

{counts}
"""


def card(lines: Sequence[Mapping[str, Any]], about: str) -> str:
    """lines: of metadata.jsonl, with their split."""
    return _TEXT.format(about=about, counts=counts_table(lines))


def counts_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Videos per split, kind and label, and clusters, as Markdown."""
    counts = Counter((line["split"], line["kind"], line["reward"]) for line in lines)
    rows = ["| split | kind | " + " | ".join(map(str, LABELS)) + " | videos | clusters |", "|---|---|" + "---|" * 7]
    for split, kind in dict.fromkeys((line["split"], line["kind"]) for line in sorted(lines, key=_order)):
        mine = [counts[split, kind, label] for label in LABELS]
        clusters = len({line["cluster"] for line in lines if line["split"] == split})
        rows.append(f"| {split} | {kind} | {' | '.join(map(str, mine))} | {sum(mine)} | {clusters} |")
    return "\n".join(rows)


def _order(line: Mapping[str, Any]) -> tuple[int, int]:
    return (
        ("train", "val", "test").index(line["split"]),
        ("full", "clip", "counterfactual").index(line["kind"]),
    )
