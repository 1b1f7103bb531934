"""What a rollout leaves behind: enough to judge it again without simulating it again."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import dataclass, fields
from enum import IntFlag
from pathlib import Path

import mujoco
import numpy as np

from sbench_dag.scenes.scene import Scene

RETRACTING = -1  # the attempt's number while the harness brings the arm home


class Touch(IntFlag):
    """What an object is in contact with."""

    ROBOT = 1
    STATIC = 2
    OBJECT = 4


@dataclass(frozen=True)
class Trace:
    """A rollout of T control steps with N objects and S selections.

    names (N,), selected (S,): uids; selected is the instance that the policy was sent for.
    recorded_z (N,): heights in the recorded end state. start_z (S, N): at the start of each selection.
    start_touch (S, N): contacts then. base (S, 4): x, y, height, yaw.
    time_s (T,), selection (T,), attempt (T,): when, and in which attempt (RETRACTING in between).
    z (T, N), touch (T, N): heights in metres and `Touch` flags after each step.
    arm_qpos (T, 7), gripper_m (T,), command (T, 8): joints, width, and the action applied.
    """

    names: np.ndarray
    selected: np.ndarray
    recorded_z: np.ndarray
    start_z: np.ndarray
    start_touch: np.ndarray
    base: np.ndarray
    time_s: np.ndarray
    selection: np.ndarray
    attempt: np.ndarray
    z: np.ndarray
    touch: np.ndarray
    arm_qpos: np.ndarray
    gripper_m: np.ndarray
    command: np.ndarray


def write_trace(file: Path, trace: Trace) -> None:
    """Written whole and then renamed."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{f.name: getattr(trace, f.name) for f in fields(Trace)})
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_bytes(buffer.getvalue())
    fresh.replace(file)


def read_trace(file: Path) -> Trace:
    """
    Raises:
        OSError, ValueError, zipfile.BadZipFile: the file is missing or damaged.
    """
    with np.load(file, allow_pickle=False) as data:
        try:
            return Trace(**{f.name: data[f.name] for f in fields(Trace)})
        except KeyError as error:
            raise zipfile.BadZipFile(f"{file}: {error}") from None


class Observer:
    """Reads heights and contacts of all objects off a running simulation."""

    def __init__(self, scene: Scene):
        model = scene.model
        self.names = sorted(scene.objects)
        self._z = np.array([scene.objects[name].qpos + 2 for name in self.names], dtype=int)
        self._index = np.full(model.nbody, -1)
        self._kind = np.full(model.nbody, int(Touch.STATIC), dtype=np.uint8)
        for i, name in enumerate(self.names):
            self._index[scene.objects[name].body] = i
            self._kind[scene.objects[name].body] = Touch.OBJECT
        self._kind[scene.robot.bodies] = Touch.ROBOT
        self._body_of_geom = model.geom_bodyid

    def heights(self, data: mujoco.MjData) -> np.ndarray:
        """(N,) metres."""
        return data.qpos[self._z].copy()

    def touches(self, data: mujoco.MjData) -> np.ndarray:
        """(N,) `Touch` flags. An object that sleeps has no contacts, and none of its flags are set."""
        flags = np.zeros(len(self.names), dtype=np.uint8)
        first, second = self._body_of_geom[data.contact.geom].T
        for mine, other in ((first, second), (second, first)):
            index = self._index[mine]
            objects = index >= 0
            np.bitwise_or.at(flags, index[objects], self._kind[other[objects]])
        return flags
