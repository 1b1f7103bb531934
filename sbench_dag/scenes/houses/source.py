"""The scene source of the embedded benchmark."""

from __future__ import annotations

from sbench_dag.dataset.dataset import Episode
from sbench_dag.dataset.episode import EpisodeMeta
from sbench_dag.errors import InputError
from sbench_dag.robot.fr3 import add_robot
from sbench_dag.robot.robot import find_robot
from sbench_dag.scenes.fingerprint import scene_fingerprint
from sbench_dag.scenes.houses.build import build_spec, floor_geom
from sbench_dag.scenes.houses.home import HousePlan, plan_house
from sbench_dag.scenes.scene import Furniture, Scene, SceneObject
from sbench_dag.scenes.simulation import apply_options


class HouseSource:
    """Builds houses from their index. sleep: whether bodies at rest may sleep."""

    version = "houses-1"

    def __init__(self, sleep: bool = True):
        self.sleep = sleep

    def build(self, meta: EpisodeMeta) -> Scene:
        if meta.house_index < 0:
            raise InputError("meta.json", "house_index", meta.house_index, "houses are numbered from 0")
        return build_house(plan_house(meta.house_index), self.sleep)

    def content(self, episode: Episode) -> str:
        """A house is made by code and by nothing else."""
        return ""


def build_house(plan: HousePlan, sleep: bool = True) -> Scene:
    """The compiled scene of a plan, with the robot in it."""
    spec = build_spec(plan)
    add_robot(spec)
    apply_options(spec, sleep)
    model = spec.compile()
    house = plan.interior
    objects = {
        uid: SceneObject(
            uid, thing.names, model.body(uid).id, int(model.joint(uid).qposadr[0]), int(model.joint(uid).dofadr[0])
        )
        for uid, thing in plan.home.things.items()
    }
    return Scene(
        model=model,
        robot=find_robot(model),
        rooms=tuple(room.room for room in house.rooms),
        furniture=tuple(
            Furniture(piece.uid, house.piece_names[piece.uid], piece.room, frozenset({int(model.body(piece.uid).id)}))
            for piece in house.furniture
        ),
        objects=objects,
        floors=frozenset(int(model.geom(floor_geom(room.room.index)).id) for room in house.rooms),
        fingerprint=scene_fingerprint(model),
    )
