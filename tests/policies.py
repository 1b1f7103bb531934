"""Policies that misbehave on purpose, named by import path in a test's study.toml."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from sbench_dag.manipulation.policy import PickTask
from sbench_dag.manipulation.scripted import ScriptedPicker
from sbench_dag.scenes.world import World


class Faulty(ScriptedPicker):
    """The scripted policy, but for some instances it crashes, hangs or raises; and it counts its calls in a file."""

    def __init__(
        self, crash: Sequence[str] = (), hang: Sequence[str] = (), error: Sequence[str] = (), calls: str = ""
    ) -> None:
        super().__init__()
        self._crash, self._hang, self._error, self._calls = crash, hang, error, calls

    def begin(self, task: PickTask, world: World) -> None:
        if self._calls:
            with Path(self._calls).open("a") as file:
                file.write(f"{task.instance}\n")
        if task.instance in self._crash:
            os._exit(3)
        if task.instance in self._hang:
            time.sleep(3600)
        if task.instance in self._error:
            raise RuntimeError("the policy's server is gone")
        super().begin(task, world)


class Idle(ScriptedPicker):
    """Does nothing at all."""

    def begin(self, task: PickTask, world: World) -> None:
        self._actions = []
