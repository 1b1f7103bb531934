"""A data set on disk: its revision, its episodes, and the content hash of each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from sbench_dag.dataset.episode import (
    EndState,
    EpisodeMeta,
    Trajectory,
    read_end_state,
    read_meta,
    read_trajectory,
)
from sbench_dag.dataset.eval_spec import EvalSpec, read_eval_spec
from sbench_dag.dataset.fields import get, read_json
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.errors import InputError, SetupError
from sbench_dag.work.fingerprint import fingerprint, sha256_if_there


@dataclass(frozen=True)
class DatasetInfo:
    """dataset.json. `synthetic`: its answers come from programmed readers, not from models."""

    name: str
    profile: str
    revision: str
    synthetic: bool


class Episode:
    """One episode's files, read and checked when they are first asked for. Every property may raise InputError."""

    def __init__(self, name: str, files: EpisodeFiles):
        self.name, self.files = name, files

    @cached_property
    def meta(self) -> EpisodeMeta:
        meta = read_meta(self.files.meta)
        self._check_name(self.files.meta, meta.episode)
        return meta

    @cached_property
    def end_state(self) -> EndState:
        return read_end_state(self.files.final_state)

    @cached_property
    def eval_spec(self) -> EvalSpec:
        spec = read_eval_spec(self.files.eval_spec, self.meta.tracked)
        self._check_name(self.files.eval_spec, spec.episode)
        return spec

    @property
    def trajectory(self) -> Trajectory:
        return read_trajectory(self.files.trajectory)

    @cached_property
    def content(self) -> str:
        """Hash of everything in the episode's folder that a gate reads; unreadable files count as missing."""
        return fingerprint({f.name: sha256_if_there(f) for f in self.files.all})

    def _check_name(self, file: Path, name: str) -> None:
        if name != self.name:
            raise InputError(file, "episode", name, f"the folder is called {self.name!r}")


class Dataset:
    """A folder laid out as `dataset.layout` says."""

    def __init__(self, root: Path):
        self.root = Path(root)
        if not (self.root / "dataset.json").exists():
            raise SetupError(
                f"{self.root}: no data set here (dataset.json is missing); `sbench dataset make` writes one"
            )

    @cached_property
    def info(self) -> DatasetInfo:
        file = self.root / "dataset.json"
        data = read_json(file)
        return DatasetInfo(
            get(file, data, "name", str),
            get(file, data, "profile", str),
            get(file, data, "revision", str),
            get(file, data, "synthetic", bool),
        )

    @cached_property
    def episodes(self) -> tuple[str, ...]:
        """Ids of all episodes, sorted."""
        return tuple(sorted(folder.name for folder in (self.root / "episodes").iterdir() if folder.is_dir()))

    def episode(self, name: str) -> Episode:
        return Episode(name, EpisodeFiles(self.root / "episodes" / name))

    @property
    def scene_source(self) -> str:
        """The source of the episodes' scenes: that of the first whose meta.json can be read."""
        for name in self.episodes:
            try:
                return self.episode(name).meta.scene_source
            except InputError:
                continue
        raise SetupError(f"{self.root}: no episode here has a readable meta.json")

    @property
    def runs(self) -> tuple[Path, ...]:
        """The results.json files that came with the data set."""
        return tuple(sorted(self.root.glob("answers/*/results.json")))


def write_dataset_info(root: Path, info: DatasetInfo) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "dataset.json").write_text(json.dumps(asdict(info), indent=2) + "\n")
