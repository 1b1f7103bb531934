"""Where queries are lost: answered -> grounded -> reached -> lifted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.plans.expand import CellResult


class Stage(StrEnum):
    """How far a query came; in the words of a page, and in its order."""

    SUCCEEDED = "succeeded"
    NOT_LIFTED = "not lifted"
    NOT_REACHED = "not reached"
    NOT_GROUNDED = "not grounded"
    ABSTAINED = "abstained"
    INVALID = "invalid"
    NOT_RUN = "not run"


_GROUNDING = {
    Reason.ROOM_UNKNOWN,
    Reason.SURFACE_NOT_IN_ROOM,
    Reason.SURFACE_UNKNOWN,
    Reason.FLOOR_WITHOUT_ROOM,
}
_REACHING = {Reason.NO_FREE_POSE, Reason.TOO_FAR}
_WITHOUT_VERDICT = {Outcome.INVALID: Stage.INVALID, Outcome.NOT_RUN: Stage.NOT_RUN}


def losses(cells: Iterable[CellResult]) -> dict[str, int]:
    """Stage -> how many ended there; they sum to the cells."""
    counts = Counter(stage_of(cell) for cell in cells)
    return {str(stage): counts[stage] for stage in Stage}


def stage_of(cell: CellResult) -> Stage:
    if cell.cell.abstained:
        return Stage.ABSTAINED
    if cell.outcome in _WITHOUT_VERDICT:
        return _WITHOUT_VERDICT[cell.outcome]
    if cell.outcome is Outcome.SUCCESS:
        return Stage.SUCCEEDED
    if cell.reason in _GROUNDING:
        return Stage.NOT_GROUNDED
    return Stage.NOT_REACHED if cell.reason in _REACHING else Stage.NOT_LIFTED
