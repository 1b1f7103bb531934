"""Makes the embedded benchmark: episodes, questions, and the answers of programmed readers."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sbench_dag.dataset.dataset import Dataset, DatasetInfo, write_dataset_info
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.errors import SetupError
from sbench_dag.synthetic.answers import write_answers
from sbench_dag.synthetic.episode import MadeEpisode, make_episode
from sbench_dag.synthetic.profiles import EpisodeOrder, find_profile, orders, revision


def make_dataset(
    root: Path,
    profile: str,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 0,
) -> None:
    """Writes the data set of a profile and a seed into `root`; one that is there already is left alone.

    progress: called with the number of finished episodes and that of all. workers: processes, 0 for one per core;
    their number changes nothing in what is written.

    Raises:
        SetupError: there is no such profile, or `root` holds another data set.
    """
    wanted = find_profile(profile)
    name = revision(wanted, seed)
    if _is_there(root, name):
        return
    todo = orders(wanted, seed)
    made = []
    for episode in _make_all(root, todo, workers or os.cpu_count() or 1):
        made.append(episode)
        if progress is not None:
            progress(len(made), len(todo))
    write_answers(root, made, name)
    # last: a folder with this file is whole
    write_dataset_info(root, DatasetInfo(f"embedded-{profile}", profile, name, synthetic=True))


def _is_there(root: Path, name: str) -> bool:
    if not (root / "dataset.json").exists():
        return False
    there = Dataset(root).info.revision
    if there != name:
        raise SetupError(f"{root}: holds revision {there!r}, not {name!r}; choose another folder")
    return True


def _make_all(root: Path, todo: list[EpisodeOrder], workers: int) -> Iterator[MadeEpisode]:
    folders = [EpisodeFiles(root / "episodes" / order.episode).folder for order in todo]
    workers = min(workers, len(todo))
    if workers == 1:
        yield from map(make_episode, todo, folders)
        return
    # spawn: a fork of a process with an OpenGL context is not safe
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(make_episode, todo, folders)
