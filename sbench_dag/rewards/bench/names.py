"""What files of scores are called."""

from __future__ import annotations

import re
from pathlib import Path


def scores_file(folder: Path, model: str, identity: str) -> Path:
    """Of one model with one identity."""
    return folder / f"{file_name(model)}-{identity}.jsonl"


def file_name(text: str) -> str:
    return re.sub(r"[^\w.@-]+", "_", text).strip("_.")
