"""A gate's last failures as tables: the robot's, which are results, apart from the harness's, which are none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from assets.show import table
from sbench_dag.gate import Gate
from sbench_dag.outcomes import Outcome
from sbench_dag.reports.grid import Results
from sbench_dag.study import Study
from sbench_dag.work.store import Line

LAST_FAILURES = "last_failures"
_SHOWN = 10
_LETTERS = 200
_KINDS = {"robot failed": Outcome.FAILURE, "harness failed": Outcome.INVALID}


def last_failures_spec(asset: dg.AssetKey) -> dg.AssetCheckSpec:
    description = "Nothing is invalid: what failed was the robot or the answer. Files lie in the study's folder."
    return dg.AssetCheckSpec(LAST_FAILURES, asset=asset, description=description)


def last_failures(asset: dg.AssetKey, results: Results, gate: Gate) -> dg.AssetCheckResult:
    """The newest of each kind, newest first, and the files of the newest one."""
    study = results.study
    lines = sorted(results.of(gate.name).values(), key=lambda line: (-line.finished, line.key))
    counts: dict[str, int] = {}
    found: dict[str, Any] = {}
    for kind, outcome in _KINDS.items():
        failed = [line for line in lines if line.outcome is outcome]
        counts[kind] = len(failed)
        found[kind] = _table(study, failed[:_SHOWN])
        if failed:
            found |= {f"{kind}, newest: {name}": value for name, value in _links(study, gate, failed[0]).items()}
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=LAST_FAILURES,
        passed=counts["harness failed"] == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"In {len(lines)} stored results the " + ", the ".join(f"{k} {n} times" for k, n in counts.items()),
        metadata=found,
    )


def _table(study: Study, lines: Sequence[Line]) -> dg.TableMetadataValue:
    """The widest column last; without the columns that are empty, since the UI does not wrap a table."""
    rows = [_row(study, line) for line in lines]
    names = [name for name in (rows[0] if rows else {}) if any(row[name] for row in rows)]
    return table([{name: row[name] for name in names} for row in rows])


def _row(study: Study, line: Line) -> dict[str, str]:
    files = {name: _short(study, file) for name, file in _files(study, line).items()}
    return {
        "partition": line.key,
        "reason": str(line.result.reason),
        "video": files.get("video", ""),
        "log": files.get("log", ""),
        "finished (UTC)": datetime.fromtimestamp(line.finished, UTC).strftime("%m-%d %H:%M:%S"),
        "message": line.result.message[:_LETTERS],
    }


def _links(study: Study, gate: Gate, line: Line) -> dict[str, dg.MetadataValue]:
    page = f"/assets/{quote(study.name)}/{gate.name}?view=partitions&partition={quote(line.key)}"
    files = {name: dg.MetadataValue.path(str(file)) for name, file in _files(study, line).items()}
    return {"partition": dg.MetadataValue.url(page), **files}


def _files(study: Study, line: Line) -> dict[str, Path]:
    """The video of the attempt, and the log of the cluster's task, where there is one."""
    files: dict[str, Path] = {}
    if line.row.get("video"):
        files["video"] = study.folder / line.row["video"]["file"]
    if "log" in line.origin:
        files["log"] = Path(line.origin["log"])
    return files


def _short(study: Study, file: Path) -> str:
    return str(file.relative_to(study.folder)) if file.is_relative_to(study.folder) else str(file)
