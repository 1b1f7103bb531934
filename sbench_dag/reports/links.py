"""Where the page of each episode and of each plan lies, and how pages link to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from sbench_dag.study import Study

EPISODES = "episodes"


def episode_page(study: Study, episode: str) -> Path:
    return study.reports / EPISODES / f"{episode}.html"


def plan_pages(study: Study, episode: str) -> Path:
    """The folder of the pages of an episode's plans."""
    return study.reports / EPISODES / episode


def plan_page(study: Study, episode: str, key: str) -> Path:
    return plan_pages(study, episode) / f"{key}.html"


def episode_href(episode: str) -> str:
    """A link to an episode's page, relative to the folder of `index.html`."""
    return f"{EPISODES}/{quote(episode)}.html"


def plan_href(episode: str, key: str) -> str:
    """A link to a plan's page, relative to the folder of `index.html`."""
    return f"{EPISODES}/{quote(episode)}/{quote(key)}.html"


def cells_href(**filters: Any) -> str:
    """A link to the page's own list of queries, filtered."""
    return f"#cells?{urlencode(filters)}"
