"""What is told of a failed run: where, how much is missing, why, and where to look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.events import FIRST_MESSAGES, REASONS, REQUESTED, WITHOUT_RESULT, step_failure_text

_MESSAGE_LENGTH = 500


@dataclass(frozen=True)
class RunFailure:
    """study, gate: empty, and the job's name, where a run has no assets. when: UTC, as ISO 8601.

    without_result, requested: numbers of partitions; None if the run ended before it could count.
    reasons: how many partitions have no result, by reason. messages: each reason's first, or why the run ended.
    """

    study: str
    gate: str
    run: str
    when: str
    without_result: int | None
    requested: int | None
    reasons: Mapping[str, int]
    messages: tuple[str, ...]
    link: str

    @property
    def headline(self) -> str:
        """In one line."""
        where = f"{self.study} / {self.gate}" if self.study else self.gate
        if self.requested is None:
            return f"{where}: the run failed"
        return f"{where}: {self.without_result} of {self.requested} partitions have no result"

    @property
    def text(self) -> str:
        """For people."""
        counts = [f"{count} {reason}" for reason, count in self.reasons.items()]
        return "\n".join([self.headline, *counts, *self.messages, f"Run {self.run}, failed {self.when}", self.link])

    @property
    def fields(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def failure_of(
    instance: dg.DagsterInstance, run: dg.DagsterRun, assets: Iterable[dg.AssetKey], ui_url: str
) -> RunFailure:
    """assets: of the code location; a run that names none of its own is looked up among them."""
    step = _first(instance, run, dg.DagsterEventType.STEP_FAILURE)
    told = _metadata(step)
    record = instance.get_run_record_by_id(run.run_id)
    assert record is not None, run.run_id
    study, gate = _where(run, step, assets)
    return RunFailure(
        study=study,
        gate=gate,
        run=run.run_id,
        when=datetime.fromtimestamp(record.end_time or record.update_timestamp.timestamp(), UTC).isoformat(
            " ", "seconds"
        ),
        without_result=told.get(WITHOUT_RESULT),
        requested=told.get(REQUESTED),
        reasons=told.get(REASONS, {}),
        messages=tuple(_short(message) for message in _messages(instance, run, step, told)),
        link=f"{ui_url.rstrip('/')}/runs/{run.run_id}",
    )


def _messages(
    instance: dg.DagsterInstance, run: dg.DagsterRun, step: dg.DagsterEvent | None, told: Mapping[str, Any]
) -> list[str]:
    if FIRST_MESSAGES in told:
        return [f"{reason}, for one {message}" for reason, message in told[FIRST_MESSAGES].items()]
    if step is not None:
        return [step_failure_text(step)]
    ended = _first(instance, run, dg.DagsterEventType.RUN_FAILURE)
    return [ended.message] if ended and ended.message else []


def _where(run: dg.DagsterRun, step: dg.DagsterEvent | None, assets: Iterable[dg.AssetKey]) -> tuple[str, str]:
    keys = set(run.asset_selection or assets)
    failed = {key for key in keys if step and key.to_python_identifier() == step.step_key}
    found = failed or set(run.asset_selection or ())
    studies = sorted({key.path[0] for key in found})
    return ", ".join(studies), ", ".join(sorted("/".join(key.path[1:]) for key in found)) or run.job_name


def _metadata(step: dg.DagsterEvent | None) -> dict[str, Any]:
    data = step and step.step_failure_data.user_failure_data
    return {name: value.value for name, value in data.metadata.items()} if data else {}


def _first(instance: dg.DagsterInstance, run: dg.DagsterRun, kind: dg.DagsterEventType) -> dg.DagsterEvent | None:
    entries = instance.all_logs(run.run_id, of_type=kind)
    return entries[0].dagster_event if entries else None


def _short(message: str) -> str:
    return message if len(message) <= _MESSAGE_LENGTH else message[: _MESSAGE_LENGTH - 1] + "…"
