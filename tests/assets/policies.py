"""A policy whose faults are listed in a file, so that they can be mended without changing the study."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from sbench_dag.manipulation.policy import PickTask
from sbench_dag.manipulation.scripted import ScriptedPicker
from sbench_dag.scenes.world import World


class Listed(ScriptedPicker):
    """Kills its process for the instances in `<folder>/crash`, and waits while there is `<folder>/hold`.

    Notes each call in `<folder>/calls`, and whether Dagster was there, in `<folder>/dagster_seen`. delay_s: how slow.
    """

    def __init__(self, folder: str, delay_s: float = 0.0) -> None:
        super().__init__()
        self._folder, self._delay_s = Path(folder), delay_s

    def begin(self, task: PickTask, world: World) -> None:
        self._note("calls", f"{world.episode.name}/{task.instance}")
        if "dagster" in sys.modules:
            self._note("dagster_seen", str(os.getpid()))
        time.sleep(self._delay_s)
        while (self._folder / "hold").exists():
            time.sleep(0.1)
        crash = self._folder / "crash"
        if crash.exists() and f"{world.episode.name}/{task.instance}" in crash.read_text().split():
            os._exit(3)
        super().begin(task, world)

    def _note(self, name: str, text: str) -> None:
        with (self._folder / name).open("a") as file:
            file.write(f"{text}\n")


class Held(ScriptedPicker):
    """Notes in `<folder>/calls` that it has begun, and goes on once `<folder>/go` is there."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = Path(folder)

    def begin(self, task: PickTask, world: World) -> None:
        with (self._folder / "calls").open("a") as file:
            file.write(f"{task.instance}\n")
        while not (self._folder / "go").exists():
            time.sleep(0.1)
        super().begin(task, world)
