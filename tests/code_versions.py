"""The code that each version stands for. After raising a version: `python -m tests.code_versions`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable
from pathlib import Path

from sbench_dag.manipulation.gate import ROLLOUT
from sbench_dag.pipeline import ASIDE, GATES
from sbench_dag.rewards.models.base import SCORING_VERSION
from sbench_dag.scenes.houses.source import HouseSource
from sbench_dag.scenes.molmospaces import MolmoSpacesSource
from sbench_dag.work.fingerprint import code_sha256

_SCORING = (
    "models", "parser", "prompt", "video", "small.frames", "small.words", "small.network", "small.judge"
)  # fmt: skip
FILE = Path(__file__).with_suffix(".json")


def today() -> dict[str, dict[str, str]]:
    """Per gate and scene source its version, and the hash of the code that it stands for."""
    versions = {gate.name: (gate.code_version, gate.modules) for gate in (*GATES, ROLLOUT, *ASIDE)}
    versions["houses"] = (HouseSource.version, ("sbench_dag.scenes.houses",))
    versions["reward models"] = (SCORING_VERSION, tuple(f"sbench_dag.rewards.{name}" for name in _SCORING))
    versions["molmospaces"] = (MolmoSpacesSource.version, ("sbench_dag.scenes.molmospaces",))
    return {name: {"version": v, "code": code_sha256(files_of(modules))} for name, (v, modules) in versions.items()}


def files_of(modules: Iterable[str]) -> list[Path]:
    """The source files of modules and of the modules in packages."""
    files = []
    for module in modules:
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin is not None, f"no module {module}"
        origin = Path(spec.origin)
        files += origin.parent.glob("*.py") if origin.name == "__init__.py" else [origin]
    return files


if __name__ == "__main__":
    FILE.write_text(json.dumps(today(), indent=1) + "\n")
