"""A comparison as a page that needs no network; it links to both studies' pages and videos where they lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

from sbench_dag import __version__
from sbench_dag.comparison import words
from sbench_dag.files import write_whole
from sbench_dag.reports.html import make_environment


def write_comparison(found: Mapping[str, Any], file: Path) -> None:
    """found: what `compare` gives. Links are relative to the page: move all of them together, or none."""
    here = file.absolute().parent

    def link(side: str, path: str) -> str:
        file, _, anchor = path.partition("#")
        target = Path(os.path.relpath(Path(found[side]["folder"]) / file, here))
        return quote(target.as_posix()) + (f"#{quote(anchor)}" if anchor else "")

    environment = make_environment()
    own = jinja2.PackageLoader("sbench_dag.comparison")
    environment.loader = jinja2.ChoiceLoader([own, jinja2.PackageLoader("sbench_dag.reports")])
    page = environment.get_template("compare.html").render(
        found=found, words=words, link=link, version=__version__, stamp=""
    )
    write_whole(file, page)
