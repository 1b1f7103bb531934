"""A data set of one episode, made of any MJCF scene with metadata: each object is asked for where it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.dataset.dataset import DatasetInfo, Episode, write_dataset_info
from sbench_dag.dataset.episode import (
    EndState,
    EpisodeMeta,
    Poses,
    SceneFingerprint,
    Trajectory,
    write_end_state,
    write_meta,
    write_trajectory,
)
from sbench_dag.dataset.eval_spec import (
    FLOOR,
    EvalSpec,
    Kind,
    Query,
    Scoring,
    Steps,
    TrueLocation,
    write_eval_spec,
)
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.errors import InputError
from sbench_dag.robot.robot import EXO_CAMERA, BasePose
from sbench_dag.scenes.free_floor import free_floor
from sbench_dag.scenes.molmospaces import MolmoSpacesSource
from sbench_dag.scenes.placing import place_robot
from sbench_dag.scenes.render import render_scene
from sbench_dag.scenes.scene import Furniture, Scene
from sbench_dag.scenes.support import support_map

_FRAMES, _STEPS_PER_FRAME = 30, 33
_SIZE = 224


def dataset_from_scene(xml: Path, root: Path, name: str) -> None:
    """Copies the scene's folder into the data set, settles it, and writes episode, truth and answers.

    Raises:
        InputError: the scene or its metadata is wrong.
    """
    if not xml.exists():
        raise InputError(xml, "scene", xml.name, "does not exist")
    shutil.copytree(xml.parent, root / "scenes" / name, dirs_exist_ok=True)
    episode = f"{name}__0"
    where = {"xml": f"scenes/{name}/{xml.name}"}
    files = EpisodeFiles(root / "episodes" / episode)
    files.folder.mkdir(parents=True, exist_ok=True)
    blank = EpisodeMeta(episode, "molmospaces", 0, SceneFingerprint(0, ""), (), where)
    source = MolmoSpacesSource(root)
    scene = source.build(blank)
    names = tuple(sorted(scene.objects))
    write_meta(files.meta, EpisodeMeta(episode, "molmospaces", 0, scene.fingerprint, names, where))
    spec = _record(scene, episode, names, files)
    revision = f"{name}-{source.content(Episode(episode, files))[:12]}"
    _write_answers(root, spec, revision)
    write_dataset_info(root, DatasetInfo(name, name, revision, synthetic=True))


def _record(scene: Scene, episode: str, names: tuple[str, ...], files: EpisodeFiles) -> EvalSpec:
    """Lets the scene settle, and writes the trajectory, the end state, the last frame and the truth."""
    data = mujoco.MjData(scene.model)
    base = _place_at_centre(scene, data)
    starts = np.array([scene.objects[name].qpos for name in names])
    times, frames = [], []
    for _ in range(_FRAMES):
        mujoco.mj_step(scene.model, data, _STEPS_PER_FRAME)
        times.append(data.time)
        frames.append(data.qpos[starts[:, None] + np.arange(7)].copy())
    poses = np.array(frames)
    base_pose = np.concatenate([base.position, base.quat_wxyz])
    bodies = Poses(names, poses[:, :, :3], poses[:, :, 3:])
    write_trajectory(files.trajectory, Trajectory(np.array(times), bodies, np.tile(base_pose, (_FRAMES, 1)), ()))
    last = Poses(names, poses[-1, :, :3], poses[-1, :, 3:])
    write_end_state(files.final_state, EndState(last, base.position, base.quat_wxyz, _FRAMES - 1))
    Image.fromarray(render_scene(scene.model, data, EXO_CAMERA, _SIZE, _SIZE)).save(files.last_frame)
    spec = _truth(scene, data, episode)
    write_eval_spec(files.eval_spec, spec)
    return spec


def _place_at_centre(scene: Scene, data: mujoco.MjData) -> BasePose:
    """The free spot nearest to the middle of the first room, facing along x."""
    mujoco.mj_kinematics(scene.model, data)
    room = scene.rooms[0]
    xs, ys = np.arange(room.x_min, room.x_max, 0.1), np.arange(room.y_min, room.y_max, 0.1)
    x, y = (grid.ravel() for grid in np.meshgrid(xs, ys))
    free = free_floor(scene, data).is_free(x, y)
    nearest = np.where(free, np.hypot(x - room.centre[0], y - room.centre[1]), np.inf).argmin()
    base = BasePose(float(x[nearest]), float(y[nearest]), 0.3, 0.0)
    place_robot(scene, data, base)
    return base


def _truth(scene: Scene, data: mujoco.MjData, episode: str) -> EvalSpec:
    rooms = {room.index: f"room {room.index}" for room in scene.rooms}
    categories = [obj.category for obj in scene.objects.values()]
    queries = []
    for i, (uid, support) in enumerate(sorted(support_map(scene, data).items())):
        category = scene.objects[uid].category
        on_furniture = isinstance(support, Furniture)
        place = (rooms[support.room], support.name) if on_furniture else (None, FLOOR)
        truth = TrueLocation(uid, category, *place)
        twin = categories.count(category) > 1
        text = f"Pick up the {category}"
        queries.append(
            Query(f"q{i:02d}", text, Kind.DISTRACTOR, Steps.SINGLE, Scoring.LIFTED, category, twin, (truth,))
        )
    furniture = {name: tuple(p.name for p in scene.furniture if p.room == index) for index, name in rooms.items()}
    return EvalSpec(episode, rooms, furniture, 0.65, 0.85, tuple(queries))


def _write_answers(root: Path, spec: EvalSpec, revision: str) -> None:
    """One programmed reader, who saw where everything is."""
    answers = [
        Answer(
            spec.episode,
            query.query,
            "as-seen",
            tuple(Selection(a.category, a.room, a.surface) for a in query.answers),
            abstained=False,
            loc_set=None,
            row=i,
        )
        for i, query in enumerate(spec.queries)
    ]
    file = root / "answers" / "s3_reader" / "results.json"
    texts = {(spec.episode, query.query): query.text for query in spec.queries}
    write_run(file, Run(file, "reader", revision, True, tuple(answers)), texts)
