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
    """What a gate's partitions are. `pick`: the plans of scoring `lifted`. `model`: the study's reward models.

    `launch`: each time that somebody asks for it is an item of its own.
    """

    EPISODE = "episode"
    PLAN = "plan"
    PICK = "pick"
    MODEL = "model"
    LAUNCH = "launch"


@dataclass(frozen=True)
class Gate:
    """One step of the pipeline.

    code_version: raise it when `modules` change what a result is; a test watches over it.
    modules: whose code a result depends on; a package stands for the modules in it, not for its packages.
    settings: the part of the study that the gate reads.
    run: raises InvalidError where the harness can't give a result.
    prepare: what is cheaper for many items than for each; `run` works without it.
    batch: how many items a worker gets at a time. Those of a gate with batches share no scene, so they are one group.
    content: of an item that is no episode's, a hash of what its result depends on besides code and settings.
    timeout_s: seconds that an item may take, where that is more than what the cluster allows each item.
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
    content: Callable[[Study, str], str] | None = None
    timeout_s: float = 0.0
