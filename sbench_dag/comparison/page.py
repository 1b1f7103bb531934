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


def write_comparison(found: Mapping[str, Any], file: Path) -> None:
    """found: what `compare` gives. Links are relative to the page: move all of them together, or none."""
    here = file.absolute().parent

    def link(side: str, path: str) -> str:
        target = os.path.relpath(Path(found[side]["folder"]) / path, here)
        return quote(Path(target).as_posix())

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("sbench_dag.comparison"), jinja2.PackageLoader("sbench_dag.reports")]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("compare.html").render(
        found=found, words=words, link=link, version=__version__, stamp=""
    )
    write_whole(file, page)
