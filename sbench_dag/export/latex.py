"""LaTeX of the grid: a booktabs table whose caption says what the rates are over and what the intervals are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jinja2

RATES = {"sr_b": r"SR\textsubscript{B}", "sr_c": r"SR\textsubscript{C}"}
"""The rates of a table, and their heads: as many as fit on a page."""
Cells = Sequence[Mapping[str, Any]]
"""The grid's, or a stratum's: a dict per source."""

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_SPECIAL = re.compile("|".join(re.escape(character) for character in _ESCAPES))


def grid_latex(grid: Mapping[str, Any]) -> str:
    """One table, a row per source."""
    return _render(grid, [("", grid["cells"])], f"tab:{grid['study']}")


def strata_latex(grid: Mapping[str, Any]) -> str:
    """A table that may take several pages, with a part per stratum."""
    parts = [(f"{stratum['axis']}: {stratum['value']}", stratum["cells"]) for stratum in grid["strata"]]
    return _render(grid, parts, f"tab:{grid['study']}-strata", by_stratum=True)


def escape(text: object) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], str(text))


def _render(grid: Mapping[str, Any], parts: list[tuple[str, Cells]], label: str, by_stratum: bool = False) -> str:
    cells = [cell for _, members in parts for cell in members]
    text = _template().render(
        grid=grid,
        parts=[{"title": title, "cells": members, "n": _planned(members)} for title, members in parts],
        by_stratum=by_stratum,
        label=re.sub(r"[^A-Za-z0-9:-]", "-", label),
        rates=RATES,
        methods=_methods(cells),
        is_synthetic=any(cell["synthetic"] for cell in cells),
        is_complete=not any(cell["invalid"] or cell["not_run"] for cell in cells),
    )
    return re.sub(r"\n\s*\n", "\n", text)  # a blank line is a paragraph


def _methods(cells: Cells) -> list[str]:
    """What the intervals are."""
    return sorted({cell[name]["method"] for cell in cells for name in RATES if cell[name]["method"]})


def _planned(cells: Cells) -> dict[str, int]:
    """The rates' denominators, which all sources share."""
    return {name: cells[0][name]["planned"] for name in RATES}


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sbench_dag.export"),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["tex"] = escape
    return environment.get_template("table.tex")
