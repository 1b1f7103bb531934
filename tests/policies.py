"""Policies that misbehave on purpose, named by import path in a test's study.toml."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sbench_dag.manipulation.policy import Action, Observation, PickTask
from sbench_dag.manipulation.scripted import ScriptedPicker
from sbench_dag.scenes.world import World


class Faulty(ScriptedPicker):
    """The scripted policy, but for some instances it crashes, hangs, raises, takes its whole array task along, or eats
    memory; it may be slow, and it counts its calls in a file.
    """

    def __init__(
        self,
        crash: Sequence[str] = (),
        hang: Sequence[str] = (),
        error: Sequence[str] = (),
        kill_parent: Sequence[str] = (),
        eat_memory: Sequence[str] = (),
        slow_s: float = 0.0,
        calls: str = "",
    ) -> None:
        super().__init__()
        self._crash, self._hang, self._error = crash, hang, error
        self._kill_parent, self._eat_memory = kill_parent, eat_memory
        self._slow_s, self._calls = slow_s, calls

    def begin(self, task: PickTask, world: World) -> None:
        if self._calls:
            with Path(self._calls).open("a") as file:
                file.write(f"{task.instance}\n")
        if task.instance in self._crash:
            os._exit(3)
        if task.instance in self._kill_parent:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        if task.instance in self._eat_memory:
            self.eaten = np.ones(2**28)  # 2 GiB
            time.sleep(60)
        if task.instance in self._hang:
            time.sleep(3600)
        if task.instance in self._error:
            raise RuntimeError("the policy's server is gone")
        time.sleep(self._slow_s)
        super().begin(task, world)


class Idle(ScriptedPicker):
    """Does nothing at all."""

    def begin(self, task: PickTask, world: World) -> None:
        self._actions = []


class Exploding(ScriptedPicker):
    """Gives the simulation a push that no integrator survives."""

    def begin(self, task: PickTask, world: World) -> None:
        super().begin(task, world)
        world.data.qvel[:] = 1e12


class Watching(ScriptedPicker):
    """Wants pictures, and fails unless it gets them in the size that it asked for."""

    cameras = ("zed2", "wrist")
    image_size = (96, 64)

    def act(self, observation: Observation) -> Action | None:
        shapes = {name: image.shape for name, image in observation.images.items()}
        if shapes != {"zed2": (64, 96, 3), "wrist": (64, 96, 3)}:
            raise RuntimeError(f"got {shapes}")
        if all(np.ptp(image) < 20 for image in observation.images.values()):
            raise RuntimeError("there is nothing to be seen in the pictures")
        return super().act(observation)


class Misnaming(ScriptedPicker):
    """Asks for a camera that does not exist."""

    cameras = ("zed3",)
    image_size = (96, 64)


class Fickle(ScriptedPicker):
    """Picks an instance the first time, and from then on only looks on, or raises. It remembers its picks in a file."""

    def __init__(self, picks: str, but: Sequence[str] = (), error: bool = False) -> None:
        super().__init__()
        self._picks, self._but, self._error = Path(picks), but, error

    def begin(self, task: PickTask, world: World) -> None:
        seen = self._picks.read_text().splitlines() if self._picks.exists() else []
        with self._picks.open("a") as file:
            file.write(f"{task.instance}\n")
        if task.instance not in seen or task.instance in self._but:
            super().begin(task, world)
        elif self._error:
            raise RuntimeError("not again")
        else:
            self._actions = []


class Trembling(ScriptedPicker):
    """Draws noise from nowhere in particular, so that no two rollouts are the same."""

    def act(self, observation: Observation) -> Action | None:
        action = super().act(observation)
        return action and action._replace(arm_qpos=action.arm_qpos + np.random.default_rng().normal(0.0, 1e-4, 7))
