"""The page's figures, as SVG without scripts. Colours are the page's variables: they follow its light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl
import vl_convert
from markupsafe import Markup

from sbench_dag.dataset.answers import BLIND
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.links import cells_href
from sbench_dag.reports.losses import Stage
from sbench_dag.reports.matrix import ANCHORS, STRATA

PANELS = {"sr_c": "SR_C: lifted", "sr_b": "SR_B: reached"}
VARIABLES = {
    "ink": "var(--ink)",
    "soft": "var(--soft)",
    "line": "var(--line)",
    "mark": "var(--mark)",
    "ceiling": "var(--good)",
    "floor": "var(--bad)",
    **{str(stage): f"var(--stage-{i})" for i, stage in enumerate(Stage)},
}
ON_WHITE = {
    **VARIABLES, "ink": "#1d2430", "soft": "#5b6675", "line": "#dde3ea", "mark": "#1f6f9f",
    "ceiling": "#2f7d5b", "floor": "#b3423a",
}  # fmt: skip
"""For pictures outside the page."""
# what is lost, in the order in which a query meets it
_FALL = (Stage.NOT_RUN, Stage.INVALID, Stage.ABSTAINED, Stage.NOT_GROUNDED, Stage.NOT_REACHED, Stage.NOT_LIFTED)
_PERCENT = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
# what vega prepends to relative links
_BASE = "https://vega.github.io/vega-datasets/"


def figures(grid: Mapping[str, Any]) -> dict[str, Any]:
    """All of the page's, by name; those of the strata by axis. There has to be a leader."""
    cells, strata = grid["cells"], grid["strata"]
    key = "lost_picks" if grid["picks"] else "lost"
    leader = next(cell for cell in cells if cell["source"] == grid["headline"]["leaders"][0])
    axes = [axis for axis in STRATA if len({s["value"] for s in strata if s["axis"] == axis}) > 1]
    return {
        "forest": svg(forest(cells), "Success rates with their intervals, the ceiling and the floor"),
        "lost": svg(lost(cells, key), "How many queries of each source ended at which stage"),
        "waterfall": svg(waterfall(leader, key), f"Where {leader['source']} loses its queries, stage by stage"),
        "gap": svg(gap(cells), "The symbolic score of each source against how often it leads there"),
        "strata": {axis: svg(stratum(axis, strata), f"Success rates by {axis}") for axis in axes},
    }


def svg(chart: alt.TopLevelMixin, title: str) -> Markup:
    """The figure as an element for the page, and `title` for those who don't see it."""
    drawn = vl_convert.vegalite_to_svg(chart.to_dict()).replace(_BASE, "").replace(' fill="white"', ' fill="none"', 1)
    label = Markup('<svg role="img" aria-label="{}" ').format(title)
    return Markup(drawn.replace("<svg ", str(label), 1))


def png(chart: alt.TopLevelMixin) -> bytes:
    return vl_convert.vegalite_to_png(chart.to_dict(), scale=1.5)


def forest(cells: Sequence[Mapping[str, Any]], colours: Mapping[str, str] = VARIABLES) -> alt.TopLevelMixin:
    """Every source's rates with their intervals, best first; ceiling and floor as lines over all of them."""
    metrics = [name for name in PANELS if any(cell[name]["planned"] for cell in cells)]
    order = sorted(
        (c for c in cells if c["source"] not in ANCHORS),
        key=lambda c: (-(c[metrics[0]]["rate"] or 0), -(c["sr_b"]["rate"] or 0), c["source"]),
    )
    names = [c["source"] for c in order]
    panels = [_panel(cells, metric, names, colours, first=metric == metrics[0]) for metric in metrics]
    return _themed(alt.hconcat(*panels, spacing=18), colours)


def _panel(
    cells: Sequence[Mapping[str, Any]], metric: str, names: list[str], colours: Mapping[str, str], first: bool
) -> Any:
    rows = [_point(c, metric) for c in cells if c["source"] in names and c[metric]["rate"] is not None]
    y = alt.Y("source:N", sort=names, title=None, axis=alt.Axis(labelLimit=220) if first else None)
    x = alt.X("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=_PERCENT, title=PANELS[metric])
    base = alt.Chart(_frame(rows, ("source", "rate", "low", "high", "href", "n")))
    layers: list[Any] = [
        base.mark_rule(color=colours["mark"], strokeWidth=2).encode(
            y=y, x=alt.X("low:Q", title=PANELS[metric]), x2="high:Q"
        ),
        base.mark_point(filled=True, size=70, opacity=1, color=colours["mark"]).encode(y=y, x=x, href="href:N"),
    ]
    for anchor, name, colour in ((ORACLE, "ceiling", "ceiling"), (BLIND, "floor", "floor")):
        found = next((c for c in cells if c["source"] == anchor and c[metric]["rate"] is not None), None)
        if found:
            layers += _line(found[metric]["rate"], name, colours[colour])
    return alt.layer(*layers).properties(width=165, height=max(40, 21 * len(names)))


def _line(rate: float, name: str, colour: str) -> list[Any]:
    at = alt.Chart(_frame([{"rate": rate, "name": f"{name} {100 * rate:.0f} %"}], ("rate", "name")))
    align = "right" if rate > 0.5 else "left"
    return [
        at.mark_rule(color=colour, strokeDash=[5, 3], strokeWidth=1.5).encode(x="rate:Q"),
        at.mark_text(color=colour, align=align, y=-7, dx=-2 if align == "right" else 2).encode(
            x="rate:Q", text="name:N"
        ),
    ]


def lost(cells: Sequence[Mapping[str, Any]], key: str, colours: Mapping[str, str] = VARIABLES) -> alt.TopLevelMixin:
    """Of each source's queries, how many ended at each stage. key: `lost`, or `lost_picks`."""
    stages = [str(stage) for stage in Stage if any(cell[key][stage] for cell in cells)]
    names = [cell["source"] for cell in sorted(cells, key=lambda c: (-c[key][Stage.SUCCEEDED], c["source"]))]
    rows = [
        {
            "source": cell["source"],
            "stage": stage,
            "count": cell[key][stage],
            "order": i,
            "href": cells_href(source=cell["source"], stage=stage, **({"picks": 1} if key == "lost_picks" else {})),
        }
        for cell in cells
        for i, stage in enumerate(stages)
        if cell[key][stage]
    ]
    base = alt.Chart(_frame(rows, ("source", "stage", "count", "order", "href"))).encode(
        y=alt.Y("source:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
        x=alt.X("count:Q", title="queries", stack="zero", axis=alt.Axis(tickMinStep=1)),
        order="order:Q",
        href="href:N",
    )
    scale = alt.Scale(domain=stages, range=[colours[stage] for stage in stages])
    legend = alt.Legend(orient="top", title=None, columns=3, symbolType="square")
    bars = base.mark_bar().encode(color=alt.Color("stage:N", scale=scale, legend=legend, sort=stages))
    return _themed(bars.properties(width=380, height=max(40, 20 * len(names))), colours)


def waterfall(cell: Mapping[str, Any], key: str, colours: Mapping[str, str] = VARIABLES) -> alt.TopLevelMixin:
    """One source's queries, from all of them down to what succeeded: each bar is what one stage costs."""
    picks = {"picks": 1} if key == "lost_picks" else {}
    left = sum(cell[key].values())
    rows = [
        {
            "step": "asked",
            "stage": "",
            "from": 0,
            "to": left,
            "count": left,
            "href": cells_href(source=cell["source"], **picks),
        }
    ]
    for stage in (*_FALL, Stage.SUCCEEDED):
        count = cell[key][stage]
        if not count and stage is not Stage.SUCCEEDED:
            continue
        low = 0 if stage is Stage.SUCCEEDED else left - count
        href = cells_href(source=cell["source"], stage=str(stage), **picks)
        rows.append({"step": str(stage), "stage": str(stage), "from": low, "to": left, "count": count, "href": href})
        left = low
    stages = [str(stage) for stage in Stage]
    scale = alt.Scale(domain=["", *stages], range=[colours["soft"], *(colours[stage] for stage in stages)])
    base = alt.Chart(_frame(rows, ("step", "stage", "from", "to", "count", "href"))).encode(
        y=alt.Y("step:N", sort=[row["step"] for row in rows], title=None),
    )
    ends = {"x": alt.X("from:Q", title="queries", axis=alt.Axis(tickMinStep=1)), "x2": alt.X2("to:Q")}
    layers = [
        base.mark_bar().encode(**ends, color=alt.Color("stage:N", scale=scale, legend=None), href="href:N"),
        base.mark_text(align="left", dx=4, color=colours["ink"]).encode(x="to:Q", text="count:Q"),
    ]
    return _themed(alt.layer(*layers).properties(width=380, height=26 * len(rows)), colours)


def gap(cells: Sequence[Mapping[str, Any]], colours: Mapping[str, str] = VARIABLES) -> alt.TopLevelMixin:
    """The symbolic score against what arrives: below the diagonal, right answers do not lead there."""
    rows = [
        {
            "strategy": c["strategy"] or c["source"],
            "model": c["model"] or "–",
            "x": c["loc_set"]["rate"],
            "x_low": c["loc_set"]["low"],
            "x_high": c["loc_set"]["high"],
            "y": c["sr_b"]["rate"],
            "low": c["sr_b"]["low"],
            "high": c["sr_b"]["high"],
            "href": cells_href(source=c["source"], loc=1, reached=0),
        }
        for c in cells
        if c["loc_set"]["rate"] is not None and c["sr_b"]["rate"] is not None
    ]
    scale = alt.Scale(domain=[0, 1])
    right, there = "loc_set: the answer is right", "SR_B: it leads there"
    x = alt.X("x:Q", scale=scale, axis=_PERCENT, title=right)
    y = alt.Y("y:Q", scale=scale, axis=_PERCENT, title=there)
    shapes = alt.Legend(symbolFillColor=colours["ink"], symbolStrokeColor=colours["ink"])
    strategy = alt.Color("strategy:N", scale=alt.Scale(scheme="tableau10"))
    base = alt.Chart(_frame(rows, (*"xy", "strategy", "model", "x_low", "x_high", "low", "high", "href"))).encode(
        color=strategy
    )
    diagonal = alt.Chart(_frame([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}], ("x", "y")))
    layers = [
        diagonal.mark_line(color=colours["soft"], strokeDash=[4, 4], strokeWidth=1).encode(x=x, y=y),
        base.mark_rule(opacity=0.35).encode(x=alt.X("x_low:Q", title=right), x2="x_high:Q", y=y),
        base.mark_rule(opacity=0.35).encode(x=x, y=alt.Y("low:Q", title=there), y2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x=x, y=y, shape=alt.Shape("model:N", legend=shapes), href="href:N"
        ),
    ]
    return _themed(alt.layer(*layers).properties(width=380, height=380), colours)


def stratum(
    axis: str, strata: Sequence[Mapping[str, Any]], colours: Mapping[str, str] = VARIABLES
) -> alt.TopLevelMixin:
    """Small multiples: a panel per value of one axis, every source's SR_B in it."""
    parts = [s for s in strata if s["axis"] == axis]
    names = [c["source"] for c in parts[0]["cells"]] if parts else []
    panels = []
    for i, part in enumerate(parts):
        rows = [_point(c, "sr_b", **{axis: part["value"]}) for c in part["cells"] if c["sr_b"]["rate"] is not None]
        n = part["cells"][0]["planned"]
        y = alt.Y("source:N", sort=names, title=None, axis=alt.Axis(labelLimit=220) if i == 0 else None)
        x = alt.X("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=_PERCENT, title="SR_B")
        base = alt.Chart(_frame(rows, ("source", "rate", "low", "high", "href", "n")))
        panels.append(
            alt.layer(
                base.mark_rule(color=colours["mark"]).encode(y=y, x=alt.X("low:Q", title="SR_B"), x2="high:Q"),
                base.mark_point(filled=True, size=36, opacity=1, color=colours["mark"]).encode(y=y, x=x, href="href:N"),
            ).properties(width=150, height=max(40, 16 * len(names)), title=f"{part['value']} (n = {n})")
        )
    return _themed(alt.hconcat(*panels, spacing=14), colours)


def _point(cell: Mapping[str, Any], metric: str, **filters: Any) -> dict[str, Any]:
    rate = cell[metric]
    if metric == "sr_c":
        filters["picks"] = 1
    return {
        "source": cell["source"],
        "rate": rate["rate"],
        "low": rate["low"],
        "high": rate["high"],
        "n": rate["planned"],
        "href": cells_href(source=cell["source"], **filters),
    }


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    """With its columns, also if there are no rows."""
    return pl.DataFrame([dict(row) for row in rows]) if rows else pl.DataFrame({name: [] for name in columns})


def _themed(chart: Any, colours: Mapping[str, str]) -> alt.TopLevelMixin:
    text = {"labelColor": colours["ink"], "titleColor": colours["soft"]}
    return (
        # the fonts of those who look may be wider than those that measured
        chart.configure(font="sans-serif", background="white", padding={"left": 24, "right": 8, "top": 5, "bottom": 5})
        .configure_axis(
            **text, gridColor=colours["line"], domainColor=colours["line"], tickColor=colours["line"],
            labelFontSize=11, titleFontSize=11, titleFontWeight="normal",
        )
        .configure_legend(labelColor=colours["ink"], titleColor=colours["soft"], labelFontSize=11, symbolOpacity=1)
        .configure_title(color=colours["ink"], fontSize=12, fontWeight="normal", anchor="start")
        .configure_view(stroke=None)
    )  # fmt: skip
