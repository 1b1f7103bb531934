"""A real study of a table, two cubes and two bars, with videos: what negatives are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from tests.running import run_here

_TABLE_M = 0.35
_THINGS = {
    "cube_a": ("cube", (0.0, 0.0, _TABLE_M + 0.025), "0.025 0.025 0.025", "1 0 0 1"),
    "cube_b": ("cube", (1.2, 1.0, 0.025), "0.025 0.025 0.025", "1 0 0 1"),
    "bar_a": ("bar", (-1.2, 1.0, 0.025), "0.06 0.02 0.025", "0 0 1 1"),
    "bar_b": ("bar", (-1.2, -1.0, 0.025), "0.06 0.02 0.025", "0 0 1 1"),
}


def write_scene(folder: Path) -> Path:
    """`table` with cube_a on it; cube_b and both bars on the floor."""
    folder.mkdir(parents=True, exist_ok=True)
    half = _TABLE_M / 2
    bodies = f'<body name="table" pos="0 0 {half}"><geom type="box" size="0.15 0.15 {half}"/></body>'
    for name, (_, (x, y, z), size, rgba) in _THINGS.items():
        bodies += (
            f'<body name="{name}" pos="{x} {y} {z}"><freejoint/>'
            f'<geom type="box" size="{size}" mass="0.1" rgba="{rgba}"/></body>'
        )
    floor = '<geom name="floor" type="plane" size="3 3 0.1"/><light pos="0 0 3" castshadow="false"/>'
    (folder / "scene.xml").write_text(f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>")
    objects = {name: {"category": category, "is_static": False} for name, (category, *_) in _THINGS.items()}
    objects["table"] = {"category": "table", "is_static": True}
    (folder / "scene_metadata.json").write_text(json.dumps({"objects": objects}))
    return folder / "scene.xml"


def picked_study(home: Path, settings: Mapping[str, Any] | None = None) -> Study:
    """Run up to the labels, at a quarter of the size."""
    dataset_from_scene(write_scene(home / "scenes" / "table"), home / "datasets" / "table", "table")
    video = {"video": {"width": 64, "height": 64}}
    study = create_study("table", home / "datasets" / "table", {**video, **(settings or {})})
    run_here(study)
    return study
