"""A study of two small scenes, for what needs real workers."""

from __future__ import annotations

import shutil
from pathlib import Path

from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from tests.blocks import write_scene


def two_scenes(home: Path, name: str = "blocks", blocks: int = 3, delay_s: float = 0.0) -> Study:
    """Episodes `a__0` and `b__0` with a few blocks each, and the oracle's plan for each block."""
    dataset = home / "datasets" / name
    for scene in ("a", "b"):
        dataset_from_scene(write_scene(home / "scenes" / name / scene, blocks), dataset, scene)
    shutil.rmtree(dataset / "answers")  # the second scene's reader has overwritten the first one's
    policy = {"name": "tests.assets.policies:Listed", "options": {"folder": str(home), "delay_s": delay_s}}
    stop = {"smoke_lifted_min": 0.5}
    return create_study(name, dataset, {"policy": policy, "stop": stop, "video": {"enabled": False}})
