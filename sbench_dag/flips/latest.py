"""The last finished repeat of a study's picks, for the report. Imports nothing of reports."""

from __future__ import annotations

import json
from typing import Any

from sbench_dag.pipeline import Fingerprints
from sbench_dag.study import Study

RESULT = "result.json"


def latest_flip(study: Study) -> dict[str, Any] | None:
    """The last finished repeat, as `count_flips` gave it; None if there is none.

    `is_current` says whether the study's settings and the gates' code are still those of that repeat.
    """
    found = [json.loads(file.read_text()) for file in study.flips.glob(f"*/{RESULT}")]
    if not found:
        return None
    last = max(found, key=lambda flip: flip["finished"])
    return {**last, "is_current": last["common"] == common(Fingerprints(study))}


def common(fingerprints: Fingerprints) -> str:
    """Changes with all that a repeat of any pick depends on, but for the episodes and the answers."""
    return fingerprints.common("stage_c")
