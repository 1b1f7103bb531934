"""An episode's files."""

from __future__ import annotations

import numpy as np
from PIL import Image

from sbench_dag.dataset.episode import (
    EndState,
    EpisodeMeta,
    Event,
    Poses,
    Trajectory,
    write_end_state,
    write_meta,
    write_trajectory,
)
from sbench_dag.dataset.eval_spec import EvalSpec, write_eval_spec
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.robot.robot import EXO_CAMERA, BasePose
from sbench_dag.scenes.render import render_scene
from sbench_dag.scenes.scene import Scene
from sbench_dag.synthetic.film import FRAME_S, Film
from sbench_dag.synthetic.memory import Recording
from sbench_dag.synthetic.physics import Played

PICTURE_SIZE = 224


def write_episode(
    files: EpisodeFiles,
    spec: EvalSpec,
    meta: EpisodeMeta,
    film: Film,
    recording: Recording,
    played: Played,
    base: BasePose,
) -> None:
    """Everything but the picture. base: of the robot in the last frame, which the film does not have."""
    files.folder.mkdir(parents=True, exist_ok=True)
    uids, poses = played.uids, played.poses
    write_meta(files.meta, meta)
    bases = np.array([np.concatenate([b.position, b.quat_wxyz]) for b in (*(f.base for f in film.frames), base)])
    events = tuple(Event(entry.body, entry.first_frame, entry.last_frame) for entry in recording.log)
    bodies = Poses(uids, poses[:, :, :3], poses[:, :, 3:])
    write_trajectory(files.trajectory, Trajectory(FRAME_S * np.arange(len(poses)), bodies, bases, events))
    last = Poses(uids, poses[-1, :, :3], poses[-1, :, 3:])
    write_end_state(files.final_state, EndState(last, base.position, base.quat_wxyz, len(poses) - 1))
    write_eval_spec(files.eval_spec, spec)


def write_last_frame(files: EpisodeFiles, scene: Scene, played: Played) -> None:
    """The end state as the exterior camera sees it."""
    picture = render_scene(scene.model, played.data, EXO_CAMERA, PICTURE_SIZE, PICTURE_SIZE)
    Image.fromarray(picture).save(files.last_frame)
