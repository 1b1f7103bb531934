"""A small data set written by hand: valid in every file, and without a scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.dataset.dataset import Dataset, DatasetInfo, write_dataset_info
from sbench_dag.dataset.episode import (
    EndState,
    EpisodeMeta,
    Event,
    Poses,
    SceneFingerprint,
    Trajectory,
    write_end_state,
    write_meta,
    write_trajectory,
)
from sbench_dag.dataset.eval_spec import EvalSpec, Kind, Query, Scoring, Steps, TrueLocation, write_eval_spec
from sbench_dag.dataset.layout import EpisodeFiles

REVISION = "by-hand-1"
ROOMS = {0: "kitchen", 1: "bedroom"}
BODIES = ("mug_0_0", "mug_1_1", "potato_0_0", "potato_1_0")


def write_dataset(root: Path) -> Dataset:
    """Two episodes of three queries, answered by one model with two strategies and by common sense."""
    for name in ("val_0001__0", "val_0002__0"):
        write_episode(root, name)
    write_dataset_info(root, DatasetInfo("by-hand", "test", REVISION, synthetic=True))
    rows = [("first-seen", q, "bedroom", "bed") for q in ("q00", "q01", "q02")]
    rows += [("last-seen", q, "kitchen", "table") for q in ("q00", "q02")] + [("last-seen", "q01", None, None)]
    write_answers(root, "vlm", rows)
    write_answers(root, "common-sense", [("blind", q, "kitchen", "countertop") for q in ("q00", "q01", "q02")])
    return Dataset(root)


def write_episode(root: Path, name: str) -> EpisodeFiles:
    files = EpisodeFiles(root / "episodes" / name)
    files.folder.mkdir(parents=True)
    write_meta(files.meta, EpisodeMeta(name, "houses", 1, SceneFingerprint(40, "0" * 64), BODIES))
    position = np.arange(12, dtype=float).reshape(4, 3) / 10
    turn = np.deg2rad(np.array([0.0, 30.0, 60.0, 90.0]))
    quat = np.stack([np.cos(turn / 2), 0 * turn, 0 * turn, np.sin(turn / 2)], axis=1)
    base = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 0.0, 0.0])
    write_end_state(files.final_state, EndState(Poses(BODIES, position, quat), base[:3], base[3:], 2))
    bodies = Poses(BODIES, np.tile(position, (3, 1, 1)), np.tile(quat, (3, 1, 1)))
    write_trajectory(
        files.trajectory, Trajectory(np.arange(3.0), bodies, np.tile(base, (3, 1)), (Event("mug_0_0", 0, 1),))
    )
    write_eval_spec(files.eval_spec, by_hand_spec(name))
    return files


def by_hand_spec(name: str) -> EvalSpec:
    def query(number: int, text: str, category: str, steps: Steps, scoring: Scoring, *answers: TrueLocation) -> Query:
        return Query(f"q{number:02d}", text, Kind.TARGET, steps, scoring, category, category == "mug", answers)

    on_table = [TrueLocation(body, "potato", "kitchen", "table") for body in ("potato_0_0", "potato_1_0")]
    queries = (
        query(
            0,
            "Pick up the mug I moved",
            "mug",
            Steps.SINGLE,
            Scoring.LIFTED,
            TrueLocation("mug_0_0", "mug", "kitchen", "table"),
        ),
        query(
            1,
            "Go to the other mug",
            "mug",
            Steps.SINGLE,
            Scoring.REACHED_ONLY,
            TrueLocation("mug_1_1", "mug", None, "floor"),
        ),
        query(2, "Pick up all the potatoes", "potato", Steps.MULTI, Scoring.LIFTED, *on_table),
    )
    furniture = {"kitchen": ("table", "countertop"), "bedroom": ("bed",)}
    return EvalSpec(name, ROOMS, furniture, 0.65, 0.85, queries)


def write_answers(root: Path, model: str, rows: list[tuple], revision: str | None = REVISION) -> Path:
    """rows: (strategy, query, room, surface), once for each episode; surface None abstains."""
    answers, texts = [], {}
    for episode in ("val_0001__0", "val_0002__0"):
        for strategy, query, room, surface in rows:
            said = () if surface is None else (Selection("mug", room, surface),)
            answers.append(Answer(episode, query, strategy, said, surface is None, None, len(answers)))
            texts[episode, query] = by_hand_spec(episode).query(query).text
    file = root / "answers" / f"s3_{model}" / "results.json"
    write_run(file, Run(file, model, revision, False, tuple(answers)), texts)
    return file
