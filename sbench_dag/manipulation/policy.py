"""What moves the robot. A policy is told what to pick and then asked for one action per control step."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sbench_dag.scenes.world import World
from sbench_dag.study import PolicySettings

SUBSTEPS = 33
CONTROL_STEP_S = 0.066  # 15 Hz: 33 steps of 2 ms


@dataclass(frozen=True)
class PickTask:
    """One attempt. instance: uid of the object that the robot perceived and went to. attempt: 0, then 1."""

    prompt: str
    instance: str
    attempt: int


@dataclass(frozen=True)
class Observation:
    """What a policy may see: joint positions (7,), gripper width in metres, and RGB pictures of its cameras."""

    time_s: float
    arm_qpos: np.ndarray
    gripper_width_m: float
    images: Mapping[str, np.ndarray]


class Action(NamedTuple):
    """Targets of the position controllers: joints (7,) in radians, gripper width in metres (negative: squeeze)."""

    arm_qpos: np.ndarray
    gripper_width_m: float


class Policy(Protocol):
    """Implement this to bring a policy of your own, and name it `module:factory` in study.toml.

    cameras: names of the cameras that it wants pictures of, and their size (width, height).
    """

    cameras: tuple[str, ...]
    image_size: tuple[int, int]

    def begin(self, task: PickTask, world: World) -> None:
        """A new attempt. A policy that reads the world is an oracle; a learnt one looks at its prompt only."""
        ...

    def act(self, observation: Observation) -> Action | None:
        """The next action, or None when the policy is done."""
        ...


def make_policy(settings: PolicySettings) -> Policy:
    """The policy that a study names.

    Raises:
        ValueError: the name is neither known nor of the form `module:factory`.
    """
    name = settings.name
    if name == "scripted":
        name = "sbench_dag.manipulation.scripted:ScriptedPicker"
    module, _, factory = name.partition(":")
    if not factory:
        raise ValueError(f"policy.name = {settings.name!r}: expected 'scripted' or 'module:factory'")
    return getattr(importlib.import_module(module), factory)(**settings.options)
