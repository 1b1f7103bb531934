"""A study's rollouts as a data set of labelled videos, in the layout of RoboReward: `sbench rewards make-dataset`.

    <out>/README.md
    <out>/<train|val|test>/metadata.jsonl      one line a video: file_name, task, reward, and what we know besides
    <out>/<train|val|test>/<subset>/*.mp4

A house is in one split only, and its videos are one cluster: `<subset>_index_<house>`, which file names begin with.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sbench_dag.context import Context
from sbench_dag.errors import SetupError
from sbench_dag.files import write_whole
from sbench_dag.reports.grid import Results
from sbench_dag.rewards.card import card
from sbench_dag.rewards.labelled_videos import House, Kinds, Rollout, make_videos
from sbench_dag.study import Study, load_study
from sbench_dag.work.fingerprint import fingerprint

SPLITS = ("train", "val", "test")
EVERYTHING = Kinds()
_VERSION = 1  # raise it when the same rollouts give other videos or labels
_DONE = ".done"


@dataclass(frozen=True)
class Job:
    """One episode's rollouts, and where their videos go."""

    study: Path
    out: Path
    episode: str
    house: House
    kinds: Kinds
    rollouts: tuple[Rollout, ...]

    @property
    def made_of(self) -> str:
        return fingerprint(_VERSION, asdict(load_study(self.study).judge), self.house, self.kinds, self.rollouts)

    @property
    def done(self) -> Path:
        return self.out / _DONE / f"{self.episode}.json"


def make_dataset(
    study: Study,
    out: Path,
    kinds: Kinds = EVERYTHING,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 0,
) -> list[dict[str, Any]]:
    """Writes the data set and returns the lines of all splits, with their split. Deterministic.

    What is there already of the same rollouts is kept, so a call that was killed is made good by the next one.
    progress: called with the number of finished episodes and that of all. workers: processes, 0 for one per core.

    Raises:
        SetupError: the study has no rollouts with videos, or `out` holds something else.
    """
    _claim(out)
    jobs = _jobs(study, out, kinds)
    todo = [job for job in jobs if _done(job) is None]
    for done, _ in enumerate(_make_all(todo, workers or os.cpu_count() or 1), start=len(jobs) - len(todo) + 1):
        if progress is not None:
            progress(done, len(jobs))
    lines = [{"split": job.house.split, **line} for job in jobs for line in _done(job) or ()]
    _write_metadata(out, lines)
    _remove_others(out, jobs, lines)
    about = f"study `{study.name}`, data set `{study.dataset.info.name}` revision `{study.revision}`"
    write_whole(out / "README.md", card(lines, about))
    return lines


def split_of(house: int) -> str:
    """Of five houses three are for training, one for validation, one for testing."""
    return {3: "val", 4: "test"}.get(house % 5, "train")


def _claim(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / _DONE).is_dir():
        raise SetupError(f"{out}: holds something else; choose another folder")
    (out / _DONE).mkdir(parents=True, exist_ok=True)


def _jobs(study: Study, out: Path, kinds: Kinds) -> list[Job]:
    rollouts: dict[str, list[Rollout]] = {}
    stage_c = Results(study).of("stage_c")
    for plan in study.manifest.plans:
        row = stage_c[plan.key].row if plan.key in stage_c else {}
        if row.get("video"):
            found = Rollout(plan.key, row["trace"]["sha256"], row["video"]["sha256"])
            rollouts.setdefault(plan.episode, []).append(found)
    if not rollouts:
        file = study.folder / "study.toml"
        raise SetupError(f"{study.name}: no rollouts with videos; run stage_c, with video.enabled = true in {file}")
    houses = _houses(study)
    return [
        Job(study.folder, out.absolute(), episode, houses[episode], kinds, tuple(mine))
        for episode, mine in sorted(rollouts.items())
    ]


def _houses(study: Study) -> dict[str, House]:
    """Of every episode, its house's number in the order of the episodes: equal scenes are one house."""
    subset = study.dataset.info.name
    numbers: dict[str, int] = {}
    houses = {}
    for episode in study.manifest.episodes:
        scene = study.dataset.episode(episode).meta.scene_fingerprint.sha256
        number = numbers.setdefault(scene, len(numbers))
        houses[episode] = House(subset, f"{subset}_index_{number}", split_of(number))
    return houses


def _make_all(todo: Sequence[Job], workers: int) -> Iterator[None]:
    workers = min(workers, len(todo))
    if workers <= 1:
        yield from map(_make, todo)
        return
    # spawn: a fork of a process with threads is not safe
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_make, todo)


def _make(job: Job) -> None:
    context = Context(load_study(job.study))
    lines = make_videos(context, job.episode, job.rollouts, job.house, job.kinds, job.out)
    write_whole(job.done, json.dumps({"made_of": job.made_of, "lines": lines}))


def _done(job: Job) -> list[dict[str, Any]] | None:
    """The lines of a job that was done with today's rollouts and whose videos are there."""
    try:
        done = json.loads(job.done.read_text())
    except (OSError, ValueError):
        return None
    folder = job.out / job.house.split
    if done["made_of"] != job.made_of or not all((folder / line["file_name"]).exists() for line in done["lines"]):
        return None
    return done["lines"]


def _write_metadata(out: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    for split in SPLITS:
        file = out / split / "metadata.jsonl"
        mine = [
            {key: value for key, value in line.items() if key != "split"} for line in lines if line["split"] == split
        ]
        if mine:
            write_whole(file, "".join(json.dumps(line) + "\n" for line in mine))
        else:
            file.unlink(missing_ok=True)


def _remove_others(out: Path, jobs: Sequence[Job], lines: Sequence[Mapping[str, Any]]) -> None:
    """Videos of earlier calls with other rollouts or kinds, and what a killed one left half done."""
    wanted = {out / line["split"] / line["file_name"] for line in lines} | {out / _DONE / job.done.name for job in jobs}
    for file in [*(out / _DONE).iterdir(), *(file for split in SPLITS for file in (out / split).glob("*/*"))]:
        if file not in wanted:
            file.unlink()
