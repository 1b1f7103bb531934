"""meta.json, final_state.npz and traj.h5: what an episode was and how it ended."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from sbench_dag.dataset.fields import array, get, read_json, unique, unit_quaternions
from sbench_dag.errors import InputError


@dataclass(frozen=True)
class SceneFingerprint:
    """Says whether a rebuilt scene is the episode's: number of bodies and a hash of them."""

    nbody: int
    sha256: str


@dataclass(frozen=True)
class EpisodeMeta:
    """meta.json. `scene` holds what the episode's scene source needs beyond the house's index."""

    episode: str
    scene_source: str
    house_index: int
    scene_fingerprint: SceneFingerprint
    tracked: tuple[str, ...]
    scene: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Poses:
    """Poses of named bodies in the world: position (..., N, 3) in metres, quaternion (..., N, 4) as w x y z."""

    names: tuple[str, ...]
    position: np.ndarray
    quat_wxyz: np.ndarray


@dataclass(frozen=True)
class EndState:
    """final_state.npz: poses of the tracked bodies and of the robot's base, at `frame` of the trajectory."""

    bodies: Poses
    base_position: np.ndarray
    base_quat_wxyz: np.ndarray
    frame: int


@dataclass(frozen=True)
class Event:
    """A body was moved between two frames of the context phase (both inclusive)."""

    body: str
    first_frame: int
    last_frame: int


@dataclass(frozen=True)
class Trajectory:
    """traj.h5: time (T,) in seconds, poses of the tracked bodies (T, N, ...) and of the robot's base (T, 7)."""

    time_s: np.ndarray
    bodies: Poses
    base_pose: np.ndarray
    events: tuple[Event, ...]


def read_meta(file: Path) -> EpisodeMeta:
    data = read_json(file)
    stamp = get(file, data, "scene_fingerprint", dict)
    return EpisodeMeta(
        episode=get(file, data, "episode", str),
        scene_source=get(file, data, "scene_source", str),
        house_index=get(file, data, "house_index", int),
        scene_fingerprint=SceneFingerprint(
            get(file, stamp, "nbody", int, "scene_fingerprint"),
            get(file, stamp, "sha256", str, "scene_fingerprint"),
        ),
        tracked=unique(file, "tracked", get(file, data, "tracked", list)),
        scene=get(file, data, "scene", dict) if "scene" in data else {},
    )


def write_meta(file: Path, meta: EpisodeMeta) -> None:
    data = {
        "episode": meta.episode,
        "scene_source": meta.scene_source,
        "house_index": meta.house_index,
        "scene_fingerprint": {
            "nbody": meta.scene_fingerprint.nbody,
            "sha256": meta.scene_fingerprint.sha256,
        },
        "tracked": list(meta.tracked),
        "scene": dict(meta.scene),
    }
    file.write_text(json.dumps(data, indent=2) + "\n")


def read_end_state(file: Path) -> EndState:
    """Reads final_state.npz (or states/final.npz). The quaternion order is taken as w x y z; gate G0 verifies it
    against the trajectory, since the file does not say."""
    try:
        with np.load(file, allow_pickle=False) as data:
            arrays: dict[str, Any] = {key: data[key] for key in data.files}
    except FileNotFoundError:
        raise InputError(file, "file", file.name, "does not exist") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(file, "npz", str(error), "not a readable npz; is the file truncated?") from None
    names = unique(file, "names", (str(name) for name in get(file, arrays, "names", np.ndarray)))
    pose = array(file, "pose", get(file, arrays, "pose", np.ndarray), (len(names), 7))
    base = array(file, "robot_base_pose", get(file, arrays, "robot_base_pose", np.ndarray), (7,))
    frame = array(file, "frame", get(file, arrays, "frame", np.ndarray), ())
    return EndState(
        Poses(names, pose[:, :3], unit_quaternions(file, "pose[:, 3:]", pose[:, 3:])),
        base[:3],
        unit_quaternions(file, "robot_base_pose[3:]", base[3:]),
        int(frame),
    )


def write_end_state(file: Path, state: EndState) -> None:
    np.savez(
        file,
        names=np.array(state.bodies.names),
        pose=np.hstack([state.bodies.position, state.bodies.quat_wxyz]),
        robot_base_pose=np.concatenate([state.base_position, state.base_quat_wxyz]),
        frame=np.array(state.frame),
    )


def read_trajectory(file: Path) -> Trajectory:
    try:
        with h5py.File(file, "r") as data:
            arrays: dict[str, Any] = {key: data[key][()] for key in data if isinstance(data[key], h5py.Dataset)}  # type: ignore[index]
    except FileNotFoundError:
        raise InputError(file, "file", file.name, "does not exist") from None
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(file, "h5", str(error), "not a readable HDF5 file; is it truncated?") from None
    names = unique(
        file,
        "names",
        (n.decode() if isinstance(n, bytes) else str(n) for n in get(file, arrays, "names", np.ndarray)),
    )
    time_s = array(file, "time", get(file, arrays, "time", np.ndarray), (None,))
    pose = array(file, "pose", get(file, arrays, "pose", np.ndarray), (len(time_s), len(names), 7))
    base = array(file, "robot_base_pose", get(file, arrays, "robot_base_pose", np.ndarray), (len(time_s), 7))
    quat = unit_quaternions(file, "pose[:, :, 3:]", pose[..., 3:])
    return Trajectory(time_s, Poses(names, pose[..., :3], quat), base, _events(file, arrays, names, len(time_s)))


def write_trajectory(file: Path, trajectory: Trajectory) -> None:
    pose = np.concatenate([trajectory.bodies.position, trajectory.bodies.quat_wxyz], axis=-1)
    index = {name: i for i, name in enumerate(trajectory.bodies.names)}
    events = [(index[e.body], e.first_frame, e.last_frame) for e in trajectory.events]
    with h5py.File(file, "w") as data:
        data["names"] = np.array(trajectory.bodies.names, dtype=h5py.string_dtype())
        data["time"] = trajectory.time_s
        data.create_dataset("pose", data=pose, compression="gzip", shuffle=True)
        data["robot_base_pose"] = trajectory.base_pose
        data["events"] = np.array(events, dtype=np.int64).reshape(-1, 3)
        data["events"].attrs["columns"] = "index into names, first frame, last frame"


def _events(file: Path, arrays: Mapping[str, Any], names: tuple[str, ...], frames: int) -> tuple[Event, ...]:
    """The optional table of events; a trajectory from elsewhere has none."""
    if "events" not in arrays:
        return ()
    table = array(file, "events", arrays["events"], (None, 3)).astype(int)
    for row in table.tolist():
        body, first, last = row
        if not (0 <= body < len(names) and 0 <= first <= last < frames):
            raise InputError(file, "events", row, f"out of range for {len(names)} bodies and {frames} frames")
    return tuple(Event(names[body], first, last) for body, first, last in table.tolist())
