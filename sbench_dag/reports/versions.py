"""Which results a page shows, as a hash that stands in the page: it says whether the page is out of date."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from sbench_dag import __version__
from sbench_dag.errors import InputError
from sbench_dag.flips.latest import RESULT
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import code_sha256, combine, file_sha256, fingerprint

Look = Callable[[str, str], str]
"""(gate, key) -> a text that changes whenever today's stored result of the key does; "" if there is none."""

SUMMARY_PAGE = "index.html"
_GATES = ("stage_b", "stage_c", "rollout_rewards")
_NUMBERS = (
    "rewards/rollouts.py",
    "rewards/predictions.py",
    "rewards/metrics.py",
    "rewards/baselines.py",
    "rewards/leaderboard.py",
    "rewards/disagreements.py",
)
"""Where what a page shows is computed, besides in this folder and in stats/."""
_META = re.compile(rb'<meta name="sbench-version" content="([0-9a-f]+)">')


def episode_version(study: Study, episode: str, look: Look) -> str:
    """Changes exactly when something that the page of the episode, or of one of its plans, shows does."""
    entries = study.manifest.by_episode[episode]
    lines = [look(gate, entry.key) for entry in entries for gate in _GATES]
    said = [study.manifest.answers(episode), *(entry.shown for entry in entries)]
    return combine([*_common(study), look("g0_spike", episode), *said, *lines])


def summary_version(study: Study, episode_versions: list[str]) -> str:
    """Changes when any result, cell, problem, override or repeat does."""
    repeats = sorted(file.parent.name for file in study.flips.glob(f"*/{RESULT}"))
    others = fingerprint(overrides(study), repeats)
    return combine([*_common(study), study.manifest.version, others, *episode_versions])


def _common(study: Study) -> list[str]:
    return [__version__, _code(), fingerprint(study.dataset.info)]


def written_version(page: Path) -> str | None:
    """The version that stands in a page; None if there is no such page."""
    try:
        with page.open("rb") as file:
            found = _META.search(file.read(500))
    except FileNotFoundError:
        return None
    return found[1].decode() if found else None


def overrides(study: Study) -> list[dict[str, Any]]:
    """The overrides of the stopping gates, as they were recorded."""
    file = study.folder / "overrides.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [_override(file, number, line) for number, line in enumerate(lines, 1)]


def _override(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(file, f"line {number}", line, f"not valid JSON ({error.msg}); remove or mend it") from None


@cache
def _code() -> str:
    """Hash of what makes pages: a page of other code or another template is another page."""
    folder = Path(__file__).parent
    numbers = (folder.parent / name for name in _NUMBERS)
    code = [*folder.glob("*.py"), *(folder.parent / "stats").glob("*.py"), *numbers]
    return fingerprint(code_sha256(code), [file_sha256(f) for f in sorted(folder.glob("templates/*"))])
