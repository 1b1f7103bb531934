"""The page of an episode and those of its plans."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sbench_dag.files import write_whole
from sbench_dag.reports.grid import Results
from sbench_dag.reports.house import House, look_at_house
from sbench_dag.reports.html import template
from sbench_dag.reports.links import episode_page, plan_page, plan_pages
from sbench_dag.reports.plan_page import EpisodeView, render_plan
from sbench_dag.reports.versions import episode_version

_WRITERS = 16


def write_episode(results: Results, episode: str) -> Path:
    """Writes `reports/episodes/<episode>.html` and, before it, a page for each plan of the episode.

    The episode's page comes last: where it has today's version, all the others have it too. Pages of plans that are
    gone are removed.
    """
    study = results.study
    view = EpisodeView(results, episode, look_at_house(results, episode))
    stamp = episode_version(study, episode, results.look)
    folder = plan_pages(study, episode)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {plan_page(study, episode, row.plan.key): row for row in view.rows}
    with ThreadPoolExecutor(_WRITERS) as pool:  # they wait for the disk together
        for written in [pool.submit(write_whole, page, render_plan(view, row, stamp)) for page, row in pages.items()]:
            written.result()
    for gone in set(folder.glob("*.html")) - set(pages):
        gone.unlink(missing_ok=True)
    page = episode_page(study, episode)
    write_whole(page, _render(view, stamp))
    return page


def _render(view: EpisodeView, stamp: str) -> str:
    results, house = view.results, view.house
    return template("episode.html").render(
        episode=view.episode,
        gate=results.of("g0_spike").get(view.episode),
        map=None if isinstance(house, str) else _map(view, house),
        why_no_map=house if isinstance(house, str) else "",
        queries=view.queries,
        study=results.study,
        stamp=stamp,
    )


def _map(view: EpisodeView, house: House) -> Mapping[str, Any]:
    asked = {body: row.plan.text for row in view.rows for body in row.plan.gt_bodies}
    marks = [mark for body, text in asked.items() for mark in house.marks([body], text)]
    size = {"width": house.sheet.width, "height": house.sheet.height}
    return {**size, "ground": house.ground, "top": house.top, "start": house.start, "right": marks}
