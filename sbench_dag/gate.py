"""What a gate is: a function from a work item to a result, and all that its result depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context
    from sbench_dag.study import Study


class Keys(StrEnum):
    """What a gate's partitions are. `pick`: the plans of scoring `lifted`."""

    EPISODE = "episode"
    PLAN = "plan"
    PICK = "pick"


@dataclass(frozen=True)
class Gate:
    """One step of the pipeline.

    code_version: raise it when `modules` change what a result is; a test watches over it.
    modules: whose code a result depends on; a package stands for the modules in it, not for its packages.
    settings: the part of the study that the gate reads.
    run: raises InvalidError where the harness can't give a result.
    prepare: what is cheaper for many items than for each; `run` works without it.
    batch: how many items a worker gets at a time. Those of a gate with batches share no scene, so they are one group.
    """

    name: str
    description: str
    keys: Keys
    code_version: str
    modules: tuple[str, ...]
    upstream: tuple[str, ...]
    settings: Callable[[Study], object]
    run: Callable[[Context, WorkItem], Result]
    cost_s: float = 1.0
    prepare: Callable[[Context, Sequence[WorkItem]], None] | None = None
    batch: int = 1
