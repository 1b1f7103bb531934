"""What a difference of the last frame means: `python -m benchmarks.last_frame [--study NAME]`.

Gate G0 compares the episode's last frame with the rebuilt world's by the mean absolute difference in grey levels of
255. This prints that number for worlds that are right, slightly off, and wrong.
"""

from __future__ import annotations

import argparse

import numpy as np

from sbench_dag.context import Context
from sbench_dag.robot.robot import EXO_CAMERA, BasePose
from sbench_dag.scenes.checks import difference, read_picture
from sbench_dag.scenes.placing import place_robot
from sbench_dag.scenes.world import World
from sbench_dag.study import find_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", help="needed only if there are several")
    study = find_study(parser.parse_args().study)
    context, rng = Context(study), np.random.default_rng(0)
    found: dict[str, list[float]] = {}
    pictures = []
    for episode in study.manifest.episodes:
        world = context.world(episode)
        pictures.append(read_picture(world.episode.files.last_frame))
        for name, shown in _variants(world, rng).items():
            found.setdefault(name, []).append(difference(shown, pictures[-1]))
    found["another episode's frame"] = [
        difference(a, b) for i, a in enumerate(pictures) for j, b in enumerate(pictures) if i != j
    ]
    for name, values in found.items():
        print(f"{name:36} {min(values):7.3f} .. {np.median(values):7.3f} .. {max(values):7.3f}   (n {len(values)})")
    print(f"limit: {study.restore.render_max_difference}")


def _variants(world: World, rng: np.random.Generator) -> dict[str, np.ndarray]:
    base = world.recorded_base
    nudged = BasePose(base.x + 0.01, base.y, base.height, base.yaw + np.radians(1))
    turned = BasePose(base.x, base.y, base.height, base.yaw + np.radians(10))
    return {
        "as recorded": _picture(world, base, 0.0, rng),
        "every object 1 cm off": _picture(world, base, 0.01, rng),
        "base 1 cm and 1 degree off": _picture(world, nudged, 0.0, rng),
        "every object 30 cm off": _picture(world, base, 0.3, rng),
        "base 10 degrees off": _picture(world, turned, 0.0, rng),
    }


def _picture(world: World, base: BasePose, off_m: float, rng: np.random.Generator) -> np.ndarray:
    world.reset(base)
    for obj in world.scene.objects.values():
        angle = rng.uniform(0, 2 * np.pi)
        world.data.qpos[obj.qpos : obj.qpos + 2] += off_m * np.array([np.cos(angle), np.sin(angle)])
    place_robot(world.scene, world.data, base)
    return world.camera(EXO_CAMERA, 224, 224).render(world.data).copy()


if __name__ == "__main__":
    main()
