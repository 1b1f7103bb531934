"""From finished partitions to Dagster's events: exactly those without a result show FAILED."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterInvalidInvocationError
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from assets.event_log import keep_connections
from assets.provenance import Input, Provenance
from assets.show import table
from sbench_dag.errors import SbenchError

COMPLETE = "complete"
# what a failure says in its metadata
REQUESTED, WITHOUT_RESULT, REASONS, FIRST_MESSAGES = "requested", "without result", "reasons", "first messages"
_ROWS_SHOWN = 200
_RANGE = (ASSET_PARTITION_RANGE_START_TAG, ASSET_PARTITION_RANGE_END_TAG)


@dataclass(frozen=True)
class Done:
    """A partition with a result. version: its fingerprint."""

    key: str
    version: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Undone:
    """A partition without one: invalid, or not run."""

    key: str
    outcome: str
    reason: str
    message: str


@dataclass(frozen=True)
class Conclusion:
    """What is said when everything is logged: numbers beside those of `complete`, which the UI plots; more checks."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    checks: Iterable[dg.AssetCheckResult] = ()


def complete_check(asset: dg.AssetKey) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(COMPLETE, asset=asset, description="Every requested partition has a result.")


def materialize(
    context: dg.AssetExecutionContext,
    code_version: str,
    inputs: Sequence[Input],
    finished: Iterable[Done | Undone],
    conclude: Callable[[], Conclusion] = Conclusion,
) -> Iterator[Any]:
    """One event per partition as it finishes, the checks, and one failure at the end that lists those without a result.

    Over a single partition the event is a MaterializeResult, so that what hangs on it may share the run.
    code_version: of the study as the run has read it; the code location may have been loaded with another one.
    """
    requested = set(requested_partitions(context))
    _refuse_company(context, requested)
    undone: list[Undone] = []
    ran: Counter[bool] = Counter()
    keep_connections(context.instance)
    provenance = Provenance(context.instance, code_version, inputs)
    for item in finished:
        if item.key not in requested:
            continue
        if isinstance(item, Undone):
            undone.append(item)
            context.log.warning(f"{item.key}: {item.outcome} ({item.reason}): {item.message}")
            continue
        ran[bool(item.metadata.get("cached"))] += 1
        yield _event(context.asset_key, item, provenance, alone=len(requested) == 1)
    conclusion = conclude()
    yield _completeness(context.asset_key, len(requested), ran, undone, conclusion.numbers)
    yield from conclusion.checks
    if undone:
        raise _failure(len(requested), undone)


def requested_partitions(context: dg.AssetExecutionContext) -> Sequence[str]:
    """A run that was queued may find that the first or the last of its partitions is gone."""
    try:
        return context.partition_keys
    except DagsterInvalidInvocationError:
        first, last = (context.run.tags.get(tag, "?") for tag in _RANGE)
        raise dg.Failure(
            f"{first} or {last} is gone: the manifest has changed since this was asked for. Reload the code location "
            "and launch what is left.",
            allow_retries=False,
        ) from None


@contextmanager
def plain_errors() -> Iterator[None]:
    """What the user has to put right is the run's failure as it stands, without a tour of our code."""
    try:
        yield
    except SbenchError as error:
        raise dg.Failure(str(error), allow_retries=False) from None


def _event(
    asset: dg.AssetKey, item: Done, provenance: Provenance, alone: bool
) -> dg.MaterializeResult | dg.AssetMaterialization:
    tags = provenance.tags(item.key, item.version)
    if alone:  # its tags are stronger than Dagster's own, which know nothing of what the run itself has observed
        version = dg.DataVersion(item.version)
        return dg.MaterializeResult(asset, metadata=item.metadata, data_version=version, tags=tags)
    return dg.AssetMaterialization(asset, partition=item.key, metadata=item.metadata, tags=tags)


def _completeness(
    asset: dg.AssetKey, requested: int, ran: Counter[bool], undone: list[Undone], numbers: Mapping[str, Any]
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=asset,
        check_name=COMPLETE,
        passed=not undone,
        description="" if not undone else _summary(requested, undone),
        metadata={
            REQUESTED: requested,
            "ran": ran[False],
            "cached": ran[True],
            WITHOUT_RESULT: len(undone),
            **_reasons(undone),
            **numbers,
        },
    )


def _failure(requested: int, undone: list[Undone]) -> dg.Failure:
    rows = [
        {"partition": u.key, "outcome": u.outcome, "reason": u.reason, "message": u.message}
        for u in undone[:_ROWS_SHOWN]
    ]
    return dg.Failure(
        _summary(requested, undone),
        metadata={
            REQUESTED: requested,
            WITHOUT_RESULT: len(undone),
            REASONS: dg.MetadataValue.json(dict(_reasons(undone).most_common())),
            FIRST_MESSAGES: dg.MetadataValue.json(_first_messages(undone)),
            "partitions": table(rows),
        },
        allow_retries=False,
    )


def _summary(requested: int, undone: list[Undone]) -> str:
    """`3 of 150 partitions have no result (2 invalid.timed_out, 1 ...)`, and each kind's first message."""
    counts = ", ".join(f"{count} {reason}" for reason, count in _reasons(undone).most_common())
    lines = [f"{reason}, for one {message}" for reason, message in _first_messages(undone).items()]
    return "\n".join([f"{len(undone)} of {requested} partitions have no result ({counts})", *lines])


def _reasons(undone: Sequence[Undone]) -> Counter[str]:
    return Counter(f"{item.outcome}.{item.reason}" for item in undone)


def _first_messages(undone: Sequence[Undone]) -> dict[str, str]:
    """By reason, what is said of the first partition that has it."""
    return {item.reason: f"{item.key}: {item.message}" for item in reversed(undone)}


def step_failure_text(event: dg.DagsterEvent) -> str:
    """What a step's failure says, without its traceback."""
    data = event.step_failure_data
    if data.user_failure_data and data.user_failure_data.description:
        return data.user_failure_data.description
    error = data.error and (data.error.cause or data.error)
    return error.message.strip() if error else (event.message or "")


def _refuse_company(context: dg.AssetExecutionContext, requested: set[str]) -> None:
    """A run of several gates over several partitions would skip all but the first, and call that a success."""
    others = set(context.job_def.asset_layer.executable_asset_keys) - {context.asset_key}
    if len(requested) > 1 and others:
        names = ", ".join(sorted(key.to_user_string() for key in others))
        raise dg.Failure(
            f"This run holds {len(requested)} partitions and other assets too ({names}). Launch them as a backfill, "
            "which gives each its own run.",
            allow_retries=False,
        )
