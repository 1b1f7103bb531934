"""The templates of this folder, ready to render: every value is escaped unless a template made it."""

from __future__ import annotations

from functools import cache

import jinja2

from sbench_dag.reports.svg import number


def make_environment() -> jinja2.Environment:
    """With the filters that all pages use."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sbench_dag.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda value, digits=1: _decimals(value, digits, 100)
    environment.filters["decimals"] = lambda value, digits=3: _decimals(value, digits)
    environment.filters["units"] = number
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    return environment


def _decimals(value: float | jinja2.Undefined | None, digits: int, times: float = 1) -> str:
    """A dash for what is not there: a stored row need not have every field."""
    if value is None or isinstance(value, jinja2.Undefined):
        return "–"
    return f"{times * value:.{digits}f}"


@cache
def template(name: str) -> jinja2.Template:
    return make_environment().get_template(name)
