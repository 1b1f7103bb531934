"""The tables beside this file, as the project's own types."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def label_arrays() -> tuple[np.ndarray, np.ndarray]:
    """(subsets, labels): one entry per test instance, from the table of how many there are of each label."""
    found = [
        (row["subset"], label)
        for row in rows("label_distribution")
        for label in range(1, 6)
        for _ in range(int(row[f"l{label}"]))
    ]
    return np.array([subset for subset, _ in found]), np.array([label for _, label in found])


def subset_errors() -> dict[str, dict[str, float]]:
    """model -> subset -> mean absolute error, as printed."""
    found: dict[str, dict[str, float]] = {}
    for row in rows("subset_mae"):
        found.setdefault(row["model"], {})[row["subset"]] = float(row["mae"])
    return found


def subset_counts() -> dict[str, int]:
    return {row["subset"]: int(row["n"]) for row in rows("label_distribution")}
