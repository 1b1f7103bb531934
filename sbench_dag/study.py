"""A study: what is evaluated on what.

It lives in `<SBENCH_HOME>/studies/<name>/` with its manifest, results, traces, videos, tables and reports.
Two studies never share a row or a partition.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from sbench_dag.dataset.dataset import Dataset
from sbench_dag.dataset.fields import get
from sbench_dag.errors import InputError, SetupError
from sbench_dag.plans.build import build_manifest
from sbench_dag.plans.manifest import StoredManifest, read_manifest, write_manifest


@dataclass(frozen=True)
class RestoreSettings:
    """Gate G0. render_max_difference: mean absolute difference of the last frame in grey levels of 255."""

    match_ratio_min: float = 0.9
    position_max_m: float = 0.01
    rotation_max_deg: float = 5.0
    settle_s: float = 1.0
    render_max_difference: float = 6.0


@dataclass(frozen=True)
class NavigationSettings:
    """Stage B. The base stands within pick_radius_m of an instance, or stand_min..max_m before the furniture."""

    pick_radius_m: float = 0.7
    stand_min_m: float = 0.3
    stand_max_m: float = 0.8


@dataclass(frozen=True)
class PolicySettings:
    """Stage C. name: `scripted`, or `module:factory` of a policy of yours, called with `options`.

    An attempt ends after horizon_steps control steps, when the policy is done, or once a body was held
    stop_hold_s above stop_lift_m. These are the rollout's; the verdict has thresholds of its own.
    """

    name: str = "scripted"
    options: Mapping[str, Any] = field(default_factory=dict)
    horizon_steps: int = 600
    attempts: int = 2
    stop_lift_m: float = 0.01
    stop_hold_s: float = 0.6


@dataclass(frozen=True)
class JudgeSettings:
    """The verdict on a stored trace: a body counts as lifted this far above its start."""

    lift_m: float = 0.01
    hold_s: float = 0.5


@dataclass(frozen=True)
class VideoSettings:
    enabled: bool = True
    width: int = 224
    height: int = 224


@dataclass(frozen=True)
class PhysicsSettings:
    """mujoco: the version in the workers' environment, where that is not this one's."""

    sleep: bool = True
    mujoco: str = ""


@dataclass(frozen=True)
class StopSettings:
    """G1 and G2: what has to come out right before the expensive gates start.

    The other two stop nothing, and show as checks. gate_pass_min: of the episodes that were tried, those whose G0
    passed. blind_reached_max: what answers of common sense may reach, as a share of what the truth reaches.
    """

    oracle_reached_min: float = 0.98
    smoke_plans: int = 10
    smoke_lifted_min: float = 0.8
    gate_pass_min: float = 0.95
    blind_reached_max: float = 0.5


@dataclass(frozen=True)
class RewardSettings:
    """models: those that score rollouts' videos: built-in ones, and those of reward_models.toml.

    bench: a benchmark that they score as well, a folder (relative to the study's) or `owner/name@COMMIT` on the Hub;
    bench_split: of it. training: whether the study has the asset that trains a model on its rollouts.
    """

    models: tuple[str, ...] = ("clip-length", "small")
    bench: str = ""
    bench_split: str = "test"
    training: bool = False

    @property
    def benchmarked(self) -> tuple[str, ...]:
        """The models that score the benchmark: none without one."""
        return tuple(dict.fromkeys(self.models)) if self.bench else ()


@dataclass(frozen=True)
class PartitionSettings:
    """by: what Dagster keeps a status of, each `plan` or each `episode` with all its plans. No result depends on it."""

    by: Literal["plan", "episode"] = "plan"


@dataclass(frozen=True)
class Study:
    """study.toml. Every table but `dataset` and `scenes` may be left out: the defaults are the source's."""

    folder: Path
    name: str
    dataset_path: Path
    revision: str
    scene_source: str
    restore: RestoreSettings = RestoreSettings()
    navigation: NavigationSettings = NavigationSettings()
    policy: PolicySettings = PolicySettings()
    judge: JudgeSettings = JudgeSettings()
    video: VideoSettings = VideoSettings()
    physics: PhysicsSettings = PhysicsSettings()
    stop: StopSettings = StopSettings()
    rewards: RewardSettings = RewardSettings()
    partitions: PartitionSettings = PartitionSettings()

    @cached_property
    def dataset(self) -> Dataset:
        dataset = Dataset(self.dataset_path)
        if dataset.info.revision != self.revision:
            raise InputError(
                self.folder / "study.toml",
                "dataset.revision",
                self.revision,
                f"{self.dataset_path} holds revision {dataset.info.revision!r}, which needs a study of its own: "
                "`sbench study create`",
            )
        return dataset

    @property
    def manifest_folder(self) -> Path:
        return self.folder / "manifest"

    @cached_property
    def manifest(self) -> StoredManifest:
        return read_manifest(self.manifest_folder)

    def refresh_manifest(self) -> bool:
        """Rebuild the manifest from the data set as it is now; returns whether it has changed."""
        self.__dict__.pop("manifest", None)
        return write_manifest(self.manifest_folder, build_manifest(self.dataset))

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def jobs(self) -> Path:
        return self.folder / "jobs"

    @property
    def locks(self) -> Path:
        return self.folder / "locks"

    @property
    def flips(self) -> Path:
        return self.folder / "flips"

    @property
    def traces(self) -> Path:
        return self.folder / "traces"

    @property
    def videos(self) -> Path:
        return self.folder / "videos"

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    @property
    def tables(self) -> Path:
        return self.folder / "tables"


_TABLES: dict[str, type] = {
    "restore": RestoreSettings,
    "navigation": NavigationSettings,
    "policy": PolicySettings,
    "judge": JudgeSettings,
    "video": VideoSettings,
    "physics": PhysicsSettings,
    "stop": StopSettings,
    "rewards": RewardSettings,
    "partitions": PartitionSettings,
}


def home() -> Path:
    """`$SBENCH_HOME`, or `.sbench` in the working directory: data sets, studies, and Dagster's instance."""
    return Path(os.environ.get("SBENCH_HOME", ".sbench")).absolute()


def study_names() -> list[str]:
    return sorted(file.parent.name for file in (home() / "studies").glob("*/study.toml"))


def find_study(name: str | None = None) -> Study:
    """The study of that name; without a name the only one."""
    names = study_names()
    if name is None and len(names) == 1:
        name = names[0]
    if name is None:
        known = f"choose one with --study: {', '.join(names)}" if names else "`make demo` makes the first one"
        raise SetupError(f"which study? {known}")
    if name not in names:
        raise SetupError(f"no study {name!r} in {home() / 'studies'}; there are: {', '.join(names) or 'none'}")
    return load_study(home() / "studies" / name)


def create_study(name: str, dataset: Path, settings: Mapping[str, Mapping[str, Any]] | None = None) -> Study:
    """Writes study.toml for a data set and builds the manifest. An existing study keeps its file.

    settings: tables of study.toml that differ from the defaults.
    """
    folder = home() / "studies" / name
    file = folder / "study.toml"
    if not file.exists():
        found = Dataset(dataset)
        tables = {
            # relative, so that the whole of SBENCH_HOME can be moved
            "dataset": {"path": os.path.relpath(dataset, folder), "revision": found.info.revision},
            "scenes": {"source": found.scene_source},
            **(settings or {}),
        }
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(_to_toml(tables))
    study = load_study(folder)
    study.refresh_manifest()
    return study


def write_study(study: Study, folder: Path) -> None:
    """Writes study.toml of a study with the same data set and settings into another folder."""
    tables = {
        "dataset": {"path": os.path.relpath(study.dataset_path, folder), "revision": study.revision},
        "scenes": {"source": study.scene_source},
        **{table: dataclasses.asdict(getattr(study, table)) for table in _TABLES},
    }
    (folder / "study.toml").write_text(_to_toml(tables))


def load_study(folder: Path) -> Study:
    """Reads `<folder>/study.toml`.

    Raises:
        InputError: a table or key that does not exist, or a value of the wrong type.
    """
    file = folder / "study.toml"
    try:
        data = tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise SetupError(f"{file}: no study here; `sbench study create` writes one") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(file, "toml", str(error), "not valid TOML") from None
    for table in data:
        if table not in (*_TABLES, "dataset", "scenes"):
            raise InputError(file, table, data[table], f"no such table; there are {', '.join(_TABLES)}")
        if not isinstance(data[table], dict):
            raise InputError(file, table, data[table], f"expected a table: a line [{table}], its settings below it")
    dataset, scenes = get(file, data, "dataset", dict), get(file, data, "scenes", dict)
    path, revision = (get(file, dataset, key, str, "dataset") for key in ("path", "revision"))
    source = get(file, scenes, "source", str, "scenes")
    settings = {table: _settings(file, table, kind, data.get(table, {})) for table, kind in _TABLES.items()}
    return Study(folder, folder.name, folder / path, revision, source, **settings)


def _settings(file: Path, table: str, kind: type, data: Mapping[str, Any]) -> Any:
    defaults = {f.name: getattr(kind(), f.name) for f in fields(kind)}
    values = {}
    for key, value in data.items():
        if key not in defaults:
            raise InputError(file, f"{table}.{key}", value, f"no such setting; there are {', '.join(defaults)}")
        expected = type(defaults[key])
        if expected is float and type(value) is int:
            value = float(value)
        if expected is tuple and isinstance(value, list):
            value = tuple(value)
        if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
            raise InputError(file, f"{table}.{key}", value, f"expected {expected.__name__}")
        choices = get_args(get_type_hints(kind)[key])
        if expected is str and choices and value not in choices:
            raise InputError(file, f"{table}.{key}", value, f"expected {' or '.join(choices)}")
        values[key] = value
    return dataclasses.replace(kind(), **values)


def _to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Just what study.toml needs: tables of strings, numbers, booleans and lists of strings."""

    def value(v: Any) -> str:
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, (list, tuple)):
            return "[" + ", ".join(value(x) for x in v) + "]"
        if isinstance(v, Mapping):
            return "{" + ", ".join(f"{value(k)} = {value(x)}" for k, x in v.items()) + "}"
        return json.dumps(v, ensure_ascii=False) if isinstance(v, str) else repr(v)

    return "\n".join(
        f"[{table}]\n" + "".join(f"{key} = {value(v)}\n" for key, v in content.items())
        for table, content in tables.items()
    )
