"""`sbench export`: the report's numbers, and no others, in forms that other programs read."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from sbench_dag.cli import main
from sbench_dag.export.latex import escape, grid_latex, strata_latex
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.study import Study
from tests.blocks import answer_wrongly, blocks_study
from tests.running import run_here

DOCUMENT = r"\documentclass{article}\usepackage{booktabs, longtable}\begin{document}%s\end{document}"


@pytest.fixture
def study(home: Path) -> Study:
    """Of two queries the reader has both right, and the guesser one wrong and no answer to the other."""
    study = blocks_study(home, 2)
    answer_wrongly(study, "q00")
    run_here(study, "g0_spike", "stage_b", "stage_c")
    return study


def export(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["export", *argv]) == 0
    return capsys.readouterr().out


def frame(capsys: pytest.CaptureFixture[str], table: str) -> pl.DataFrame:
    return pl.read_csv(export(capsys, "--format", "csv", "--table", table).encode())


def test_the_grid_has_a_row_per_source_with_what_make_grid_says(study: Study, capsys):
    cells = make_grid(Results(study))["cells"]
    found = frame(capsys, "grid")
    assert found["source"].to_list() == [cell["source"] for cell in cells]
    for row, cell in zip(found.iter_rows(named=True), cells, strict=True):
        assert (row["planned"], row["invalid"], row["picks_lifted"]) == (2, cell["invalid"], cell["picks"]["lifted"])
        for rate in ("sr_b", "sr_c", "sr_c_held"):
            for name in ("rate", "low", "high", "count", "planned", "completed"):
                assert row[f"{rate}_{name}"] == pytest.approx(cell[rate][name])
    assert found["outcomes_success"].to_list() == [cell["outcomes"].get("success", 0) for cell in cells]


def test_strata_say_of_which_axis_they_are(study: Study, capsys):
    found = frame(capsys, "strata")
    grid = make_grid(Results(study))
    assert found.height == sum(len(stratum["cells"]) for stratum in grid["strata"])
    assert set(found["axis"]) == {stratum["axis"] for stratum in grid["strata"]}


def test_cells_are_what_each_source_said_to_each_query(study: Study, capsys):
    found = {(row["source"], row["query"]): row for row in frame(capsys, "cells").iter_rows(named=True)}
    assert len(found) == 2 * len({source for source, _ in found})
    wrong, missing = found["guess/other", "q00"], found["guess/other", "q01"]
    assert (wrong["strategy"], wrong["model"], wrong["house"]) == ("guess", "other", "blocks")
    assert (wrong["outcome"], wrong["reason"]) == ("failure", "room_unknown")
    assert (wrong["reached"], wrong["lifted"], wrong["lifted_held"], wrong["loc_set"]) == (False,) * 4
    assert (missing["outcome"], missing["reason"], missing["plan"]) == ("invalid", "no_answer", None)
    assert (missing["reached"], missing["lifted"]) == (None, None), "nothing is known, which is not false"
    right = found["oracle-loc", "q01"]
    assert (right["strategy"], right["outcome"], right["lifted"]) == (None, "success", True)
    assert right["plan"] in study.manifest.by_key


def test_plans_are_those_of_the_manifest(study: Study, capsys):
    found = frame(capsys, "plans")
    assert found["plan"].to_list() == [plan.key for plan in study.manifest.plans]
    assert found["content"].to_list() == [plan.content for plan in study.manifest.plans]


def test_pairs_are_those_of_the_grid(study: Study, capsys):
    found = frame(capsys, "pairs")
    pairs = make_grid(Results(study))["pairs"]
    assert found.height == len(pairs) > 0
    assert found["p_holm"].to_list() == pytest.approx([pair["p_holm"] for pair in pairs])


@pytest.mark.parametrize("table", ["grid", "strata", "cells", "plans", "pairs"])
def test_every_form_has_the_same_rows(study: Study, table: str, tmp_path: Path, capsys):
    file = tmp_path / "out.parquet"
    assert export(capsys, "--format", "parquet", "--table", table, "--out", str(file)) == ""
    stored = pl.read_parquet(file)
    assert json.loads(export(capsys, "--format", "json", "--table", table)) == stored.to_dicts()
    assert export(capsys, "--format", "csv", "--table", table) == stored.write_csv()
    assert list(tmp_path.glob("*out*")) == [file]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("--format", "parquet"), "name a file with --out"),
        (("--format", "latex", "--table", "cells"), "--table cells: LaTeX is made of grid and strata"),
        (("--format", "csv", "--out", "nowhere/grid.csv"), "there is no folder"),
    ],
)
def test_what_cannot_be_exported_is_said(study: Study, argv: tuple[str, ...], says: str, capsys):
    assert main(["export", *argv]) == 2
    assert says in capsys.readouterr().err


def test_the_caption_states_denominators_intervals_and_whose_answers_they_are(study: Study, capsys):
    text = export(capsys, "--format", "latex")
    grid = make_grid(Results(study))
    caption = " ".join(text.split(r"\caption")[1].split(r"\label")[0].split())
    assert "over all 2 planned queries" in caption and "over the 2 of them that ask for lifting" in caption
    assert grid["cells"][0]["sr_b"]["method"] in caption and "(1 house)" in caption
    assert "programmed readers" in caption
    assert "of which there is nothing here" not in caption, "the guesser has no answer to a query"
    assert text.count(r"\\") == 2 + len(grid["cells"]), "a head, the denominators, and a row per source"


def test_what_latex_takes_for_commands_is_escaped():
    assert escape("a_b & 5% #1 $x {y} ~^\\") == (
        r"a\_b \& 5\% \#1 \$x \{y\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


def test_a_table_compiles_whatever_sources_and_studies_are_called(study: Study, tmp_path: Path):
    """TeX itself says so. Nothing may be too wide for a page either."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    grid = make_grid(Results(study)) | {"study": "my_study & co", "revision": "50%_#1"}
    for cell in [*grid["cells"], *(cell for stratum in grid["strata"] for cell in stratum["cells"])]:
        cell["source"] = f"{cell['source']}_{{x}} & 5% ~^\\"[-24:]
    (tmp_path / "t.tex").write_text(DOCUMENT % (grid_latex(grid) + strata_latex(grid)))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
