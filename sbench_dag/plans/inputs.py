"""Whether a manifest may be out of date, told from the dates and sizes of files: none is opened."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.work.fingerprint import fingerprint


def input_files(dataset: Dataset) -> list[Path]:
    """Every file that `build_manifest` reads or misses; an episode or a run that comes or goes changes the list."""
    episodes = [dataset.episode(name).files for name in dataset.episodes]
    runs = [file for results in dataset.runs for file in (results, results.with_name("run.json"))]
    return [dataset.root / "dataset.json", *(file for e in episodes for file in (e.meta, e.eval_spec)), *runs]


def signature(files: Iterable[Path]) -> str:
    """Another one whenever a file was written, replaced, added or removed."""
    return fingerprint([(file, _stamp(file)) for file in files])


def _stamp(file: Path) -> tuple[int, ...]:
    """Both times, because a file that is moved here keeps the older one."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
