"""What the documentation lists is what there is."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from assets.operations import EmailSettings, NewDataSettings, NightlySettings, NotifySettings, StaleSettings
from sbench_dag.cluster.slurm.settings import SlurmSettings

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_slurm_settings():
    assert _table(SlurmSettings) in (DOCS / "slurm.md").read_text()


def test_the_tables_of_who_is_told():
    text = (DOCS / "notifications.md").read_text()
    assert _table(NotifySettings, "email") + "\n\n" in text
    assert _table(EmailSettings) + "\n\n" in text


def test_the_tables_of_what_runs_by_itself():
    text = (DOCS / "operating.md").read_text()
    for model in (StaleSettings, NewDataSettings, NightlySettings):
        assert _table(model) + "\n\n" in text


def test_each_line_of_the_stale_table_names_its_tests():
    table = (DOCS / "stale.md").read_text().split("| what changes | is stale |")[1].split("\n\n")[0]
    lines = table.splitlines()[2:]
    named = [re.findall(r"`(test_\w+)`", line) for line in lines]
    assert len(lines) >= 12 and all(named)
    there = set(re.findall(r"^def (test_\w+)", Path(__file__).with_name("test_stale.py").read_text(), re.MULTILINE))
    assert {test for tests in named for test in tests} <= there


def _table(model: type[BaseModel], without: str = "") -> str:
    return "\n".join(
        f"| `{field.alias or name}` | {_shown(field)} | {field.description} |"
        for name, field in model.model_fields.items()
        if name != without
    )


def _shown(field: FieldInfo) -> str:
    value = field.default
    if field.is_required():
        return "needed"
    return "" if value in ("", []) else f"`{value[0]}`" if isinstance(value, list) else f"`{value}`"
