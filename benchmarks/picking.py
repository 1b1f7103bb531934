"""How often a grasp holds, by category: `python -m benchmarks.picking [--scenes 20] [--video FOLDER]`.

Each scene has one table per graspable category of the embedded benchmark, of random height, with one thing on it at a
random place and angle. The scenes become data sets and pass through every gate like any other.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import mujoco
import numpy as np
from tqdm import tqdm

from sbench_dag.outcomes import Outcome
from sbench_dag.scenes.houses.things import Thing, all_things
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from sbench_dag.work.store import Line
from tests.running import run_here

_BOX = mujoco.mjtGeom.mjGEOM_BOX


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--video", action="store_true", help="film the picks; the folder is printed and kept")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sbench-picking-"))
    os.environ["SBENCH_HOME"] = str(folder)
    lifted: dict[str, Counter[str]] = defaultdict(Counter)
    failures = []
    for seed in tqdm(range(arguments.scenes)):
        study = tables_study(folder, seed, arguments.video)
        lines = run_here(study, "g0_spike", "stage_b", "stage_c")
        for line in lines["stage_c"]:
            category = study.manifest.by_key[line.key].category
            lifted[category][_label(line)] += 1
            if line.outcome is not Outcome.SUCCESS:
                failures.append(f"{line.key} {category}: {_label(line)} {line.result.message}")
    for category, counts in lifted.items():
        others = {label: n for label, n in counts.items() if label not in ("held", "lifted")}
        print(
            f"{category:16} lifted {counts['held'] + counts['lifted']:3} (held {counts['held']:3})"
            f" of {counts.total()}  {others or ''}"
        )
    print("\n".join(failures))
    if arguments.video:
        print(folder)


def tables_study(folder: Path, seed: int, video: bool) -> Study:
    name = f"tables-{seed}"
    xml = write_tables(folder / "scenes" / name, seed)
    dataset_from_scene(xml, folder / "datasets" / name, name)
    return create_study(name, folder / "datasets" / name, {"video": {"enabled": video}})


def write_tables(folder: Path, seed: int) -> Path:
    """scene.xml with a table for each graspable thing, and its metadata."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.worldbody.add_light(pos=(0, 0, 6), castshadow=False)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(8, 8, 0.1), rgba=(0.6, 0.6, 0.6, 1))
    objects = {}
    for i, thing in enumerate(thing for thing in all_things() if thing.graspable):
        x, y, height = 2.6 * (i % 4) - 3.9, 2.6 * (i // 4) - 2.6, rng.uniform(0.4, 0.95)
        uid = f"table_{i}_0"
        table = spec.worldbody.add_body(name=uid, pos=(x, y, height - 0.02))
        table.add_geom(type=_BOX, size=(0.6, 0.35, 0.02), rgba=(0.7, 0.5, 0.3, 1))
        objects[uid] = {"category": f"table {i}", "is_static": True, "room_id": 0}
        uid = _add_thing(
            spec, thing, (x + rng.uniform(-0.4, 0.4), y + rng.choice((-1, 1)) * rng.uniform(0.05, 0.22), height), rng
        )
        objects[uid] = {"category": thing.category, "is_static": False}
    folder.mkdir(parents=True)
    spec.compile()
    (folder / "scene.xml").write_text(spec.to_xml())
    (folder / "scene_metadata.json").write_text(json.dumps({"objects": objects}))
    return folder / "scene.xml"


def _add_thing(spec: mujoco.MjSpec, thing: Thing, place: tuple[float, float, float], rng: np.random.Generator) -> str:
    uid, yaw = f"{thing.slug}_0_0", rng.uniform(-np.pi, np.pi)
    position = (place[0], place[1], place[2] + thing.height / 2 + 0.001)
    body = spec.worldbody.add_body(name=uid, pos=position, quat=(np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)))
    body.add_freejoint(name=uid)
    thing.build(body, thing.colours[0])
    return uid


def _label(line: Line) -> str:
    if line.outcome is Outcome.SUCCESS:
        return "held" if line.row["success_held"] else "lifted"
    return str(line.result.reason)


if __name__ == "__main__":
    main()
