"""The checks of gate G0: is the rebuilt world the one that the episode ended in? Each becomes a stored row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from sbench_dag.dataset.episode import EndState
from sbench_dag.dataset.eval_spec import FLOOR, Query, TrueLocation
from sbench_dag.errors import InputError
from sbench_dag.robot.frames import rotation_angle
from sbench_dag.robot.robot import EXO_CAMERA
from sbench_dag.scenes.render import Camera
from sbench_dag.scenes.scene import Furniture, Room
from sbench_dag.scenes.world import World
from sbench_dag.study import RestoreSettings

# both files tell of the same instant, so they may differ by what a float32 rounds away, no more
_SAME_POSITION_M, _SAME_ROTATION_DEG = 1e-3, 0.5


@dataclass(frozen=True)
class Check:
    """One check: what was measured, the limit that it had to keep, and what was off."""

    check: str
    passed: bool
    value: float | int | str
    limit: float | int | str
    detail: str = ""


def check_world(world: World, settings: RestoreSettings) -> list[Check]:
    """Every check of an episode. All are made, whatever the earlier ones said."""
    return [
        _fingerprint(world),
        _match_ratio(world, settings),
        *_pose_after_settling(world, settings),
        _trajectory(world),
        _last_frame(world, settings),
    ]


def unsupported(world: World, query: Query) -> Iterator[str]:
    """Says, for each true answer that the settled world contradicts, how."""
    for answer in query.answers:
        if answer.body not in world.restored.matched:
            yield f"{answer.body} was not restored"
        elif not _rests_where_said(world, answer):
            yield f"{answer.body} rests on {_place(world, answer.body)}, the truth says {answer.surface}, {answer.room}"


def _fingerprint(world: World) -> Check:
    want, have = world.episode.meta.scene_fingerprint, world.scene.fingerprint
    short = [f"{stamp.nbody} bodies {stamp.sha256[:12]}" for stamp in (have, want)]
    return Check("fingerprint", want == have, short[0], short[1])


def _match_ratio(world: World, settings: RestoreSettings) -> Check:
    restored = world.restored
    missing = sorted(set(world.episode.meta.tracked) - set(restored.matched))
    ratio, limit = round(restored.match_ratio, 4), settings.match_ratio_min
    detail = f"not restored: {', '.join(missing)}" if missing else f"{len(restored.matched)} bodies"
    return Check("match_ratio", ratio >= limit, ratio, limit, detail)


def _pose_after_settling(world: World, settings: RestoreSettings) -> Iterator[Check]:
    state = world.episode.end_state
    rows = [i for i, name in enumerate(state.bodies.names) if name in world.scene.objects]
    names = [state.bodies.names[i] for i in rows]
    starts = np.array([world.scene.objects[name].qpos for name in names], dtype=int)
    position = world.settled_qpos[starts[:, None] + np.arange(3)]
    quat = world.settled_qpos[starts[:, None] + np.arange(3, 7)]
    moved = np.linalg.norm(position - state.bodies.position[rows], axis=1)
    turned = np.degrees(rotation_angle(quat, state.bodies.quat_wxyz[rows]))
    limits = (
        ("position_m", moved, settings.position_max_m),
        ("rotation_deg", turned, settings.rotation_max_deg),
    )
    for check, error, limit in limits:
        worst = int(error.argmax())
        value = _significant(error[worst])
        yield Check(check, bool(error[worst] < limit), value, limit, f"most: {names[worst]}")


def _trajectory(world: World) -> Check:
    """The end state is the trajectory's last frame. This is what finds a quaternion written as x y z w."""
    state, trajectory = world.episode.end_state, world.episode.trajectory
    name, limit = "end_state_in_trajectory", f"{_SAME_POSITION_M} m, {_SAME_ROTATION_DEG} deg"
    if state.frame != len(trajectory.time_s) - 1:
        return Check(name, False, f"frame {state.frame}", f"frame {len(trajectory.time_s) - 1}", "not the last frame")
    absent = sorted(set(state.bodies.names) - set(trajectory.bodies.names))
    if absent:
        return Check(name, False, ", ".join(absent), limit, "not in the trajectory")
    rows = [trajectory.bodies.names.index(body) for body in state.bodies.names]
    position, quat = trajectory.bodies.position[-1, rows], trajectory.bodies.quat_wxyz[-1, rows]
    moved = np.linalg.norm(position - state.bodies.position, axis=1).max()
    turned = np.degrees(rotation_angle(quat, state.bodies.quat_wxyz)).max()
    passed = bool(moved < _SAME_POSITION_M and turned < _SAME_ROTATION_DEG)
    detail = "" if passed else _suspect_order(state, quat)
    return Check(name, passed, f"{_significant(moved)} m, {_significant(turned)} deg", limit, detail)


def _suspect_order(state: EndState, quat_wxyz: np.ndarray) -> str:
    as_xyzw = np.roll(state.bodies.quat_wxyz, 1, axis=1)
    if np.degrees(rotation_angle(quat_wxyz, as_xyzw)).max() < _SAME_ROTATION_DEG:
        return "final_state.npz: the quaternions of pose are in the order x y z w, expected w x y z"
    return "final_state.npz and traj.h5 tell of different moments"


def _last_frame(world: World, settings: RestoreSettings) -> Check:
    stored = read_picture(world.episode.files.last_frame)
    world.reset(world.recorded_base)
    height, width = stored.shape[:2]
    with Camera(world.model, EXO_CAMERA, width, height) as camera:
        rendered = camera.render(world.data)
    value, limit = _significant(difference(rendered, stored)), settings.render_max_difference
    return Check("last_frame", value <= limit, value, limit, f"{width} x {height}, {EXO_CAMERA}")


def difference(first: np.ndarray, second: np.ndarray) -> float:
    """Mean absolute difference in grey levels of 255. benchmarks/last_frame.py shows what its values mean."""
    return float(np.abs(_grey(first) - _grey(second)).mean())


def read_picture(file: Path) -> np.ndarray:
    """RGB (height, width, 3), uint8."""
    try:
        with Image.open(file) as picture:
            return np.asarray(picture.convert("RGB"))
    except FileNotFoundError:
        raise InputError(file, "file", file.name, "does not exist") from None
    except (OSError, SyntaxError, UnidentifiedImageError) as error:
        raise InputError(file, "png", str(error), "not a readable picture; is the file truncated?") from None


def _grey(rgb: np.ndarray) -> np.ndarray:
    return rgb.astype(np.float64).mean(axis=2)


def _rests_where_said(world: World, answer: TrueLocation) -> bool:
    support = world.supports[answer.body]
    if answer.surface == FLOOR:
        return isinstance(support, Room) and (answer.room is None or support.index == world.room_index[answer.room])
    if not isinstance(support, Furniture) or answer.room is None:
        return False
    return support.name == answer.surface and support.room == world.room_index[answer.room]


def _place(world: World, body: str) -> str:
    support = world.supports[body]
    names = world.episode.eval_spec.room_names
    if isinstance(support, Furniture):
        return f"{support.name}, {names.get(support.room, support.room)}"
    return f"the floor of the {names.get(support.index, support.index)}" if support else "nothing"


def _significant(value: float) -> float:
    """Three digits: enough to judge by, and the same on machines whose last bits differ."""
    return float(f"{float(value):.3g}")
