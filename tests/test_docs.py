"""What the documentation lists is what there is."""

from __future__ import annotations

from pathlib import Path

from sbench_dag.cluster.slurm.settings import SlurmSettings

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_slurm_settings():
    rows = [
        f"| `{name}` | {_shown(field.default)} | {field.description} |"
        for name, field in SlurmSettings.model_fields.items()
    ]
    assert "\n".join(rows) in (DOCS / "slurm.md").read_text()


def _shown(value: object) -> str:
    return "" if value in ("", []) else f"`{value[0]}`" if isinstance(value, list) else f"`{value}`"
