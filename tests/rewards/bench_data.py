"""A small benchmark in RoboReward's layout: two subsets with variants of the same episodes, and one without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.rewards.videos import write_video

ROWS: tuple[tuple[str, int], ...] = (
    ("bridge/bridge_originalsplit_train_index_1811", 5),
    ("bridge/bridge_originalsplit_train_index_1811_1", 2),
    ("bridge/bridge_originalsplit_train_index_1811_attempt_2_score_3", 3),
    ("bridge/bridge_originalsplit_train_index_18", 5),
    ("viola/viola_originalsplit_val_index_7", 1),
    ("viola/viola_originalsplit_val_index_7_attempt_1_score_1", 1),
    ("robo_arena/0c7e-slot_a-left", 4),
    ("robo_arena/0c7e-slot_a-right", 4),
)
IDS = tuple(name for name, _ in ROWS)
LABELS = dict(ROWS)


def rows() -> list[dict[str, Any]]:
    """The lines of metadata.jsonl."""
    return [
        {"file_name": f"{name}.mp4", "task": f"Do {name}", "reward": reward, "gpt5_mini_check": "ANSWER: TRUE"}
        for name, reward in ROWS
    ]


def write_bench(root: Path, lines: list[dict[str, Any]] | None = None, videos: bool = True) -> Path:
    """root/test/metadata.jsonl with its videos, which differ in their lengths."""
    folder = root / "test"
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in (rows() if lines is None else lines))
    (folder / "metadata.jsonl").write_text(text, encoding="utf-8")
    for i, name in enumerate(IDS if videos else ()):
        file = folder / f"{name}.mp4"
        file.parent.mkdir(exist_ok=True)
        write_video(file, frames=4 + i)
    return root
