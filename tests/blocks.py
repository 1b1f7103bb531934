"""Scenes of a few blocks on a floor, in MolmoSpaces' form: real studies of several plans that take a second each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene

_BLOCK = (
    '<body name="{name}" pos="{x} {y} 0.025"><freejoint/><geom type="box" size="0.025 0.025 0.025" mass="0.1"/></body>'
)


def write_scene(folder: Path, count: int) -> Path:
    """scene.xml with `block_0`, `block_1`, ..., each of a category of its own, and its metadata."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = "".join(
        _BLOCK.format(name=f"block_{i}", x=0.7 * (i % 3 + 1) - 1.4, y=0.8 * (i // 3) - 0.8) for i in range(count)
    )
    floor = '<geom name="floor" type="plane" size="3 3 0.1"/><light pos="0 0 3" castshadow="false"/>'
    (folder / "scene.xml").write_text(f"<mujoco><worldbody>{floor}{blocks}</worldbody></mujoco>")
    objects = {f"block_{i}": {"category": f"block {i}", "is_static": False} for i in range(count)}
    (folder / "scene_metadata.json").write_text(json.dumps({"objects": objects}))
    return folder / "scene.xml"


def blocks_study(home: Path, count: int, name: str = "blocks", settings: Mapping[str, Any] | None = None) -> Study:
    """A study without videos."""
    xml = write_scene(home / "scenes" / name, count)
    dataset_from_scene(xml, home / "datasets" / name, name)
    return create_study(name, home / "datasets" / name, {"video": {"enabled": False}, **(settings or {})})


def answer_wrongly(study: Study, query: str) -> None:
    """One more source, which says of a query what leads nowhere."""
    [episode] = study.manifest.episodes
    spec = study.dataset.episode(episode).eval_spec.query(query)
    answer = Answer(episode, query, "guess", (Selection(spec.category, None, "no such place"),), False, None, 0)
    file = study.dataset_path / "answers" / "s3_other" / "results.json"
    write_run(file, Run(file, "other", study.revision, True, (answer,)), {(episode, query): spec.text})
    study.refresh_manifest()
