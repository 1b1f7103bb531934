"""Which results a page shows, as a hash that stands in the page: it says whether the page is out of date."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sbench_dag import __version__
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import combine, fingerprint

Look = Callable[[str, str], str]
"""(gate, key) -> a text that changes whenever today's stored result of the key does; "" if there is none."""

SUMMARY_PAGE = "index.html"
_GATES = ("stage_b", "stage_c", "rollout_rewards")
_META = re.compile(rb'<meta name="sbench-version" content="([0-9a-f]+)">')


def episode_page(study: Study, episode: str) -> Path:
    return study.reports / "episodes" / f"{episode}.html"


def episode_version(study: Study, episode: str, look: Look) -> str:
    """Changes exactly when something that the episode's page shows does."""
    entries = study.manifest.by_episode[episode]
    lines = [look(gate, entry.key) for entry in entries for gate in _GATES]
    return combine([__version__, look("g0_spike", episode), *(entry.shown for entry in entries), *lines])


def summary_version(study: Study, episode_versions: list[str]) -> str:
    """Changes when any result, cell, problem or override does."""
    return combine([__version__, study.manifest.version, fingerprint(overrides(study)), *episode_versions])


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
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
