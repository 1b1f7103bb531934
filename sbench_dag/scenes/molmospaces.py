"""Scenes in MolmoSpaces' form: an MJCF file and a metadata file that says what each body is.

The metadata stands beside the scene as `<scene>_metadata.json`: {"objects": {body name: {"category",
"is_static", "room_id", ...}}}. Everything else is read off the model.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mujoco

from sbench_dag.dataset.dataset import Episode
from sbench_dag.dataset.episode import EpisodeMeta
from sbench_dag.dataset.fields import get, read_json
from sbench_dag.errors import InputError
from sbench_dag.robot.fr3 import add_robot
from sbench_dag.robot.robot import find_robot
from sbench_dag.scenes.fingerprint import scene_fingerprint
from sbench_dag.scenes.mjcf import scene_files
from sbench_dag.scenes.scene import Furniture, Room, Scene, SceneObject
from sbench_dag.scenes.simulation import apply_options
from sbench_dag.work.fingerprint import fingerprint, sha256_if_there

_UNBOUNDED_M = 20.0  # a plane of size 0 has no edge


class MolmoSpacesSource:
    """Builds the scene that `meta.scene["xml"]` names, relative to the data set's folder."""

    version = "molmospaces-1"

    def __init__(self, dataset: Path, sleep: bool = True):
        self.dataset, self.sleep = dataset, sleep
        self._sha256 = cache(sha256_if_there)  # episodes share scenes, and scenes share meshes
        self._content = cache(self._scene_content)

    def build(self, meta: EpisodeMeta) -> Scene:
        meta_file = self.dataset / "episodes" / meta.episode / "meta.json"
        xml = self._xml(meta, meta_file)
        metadata_file = _metadata_file(xml)
        entries = get(metadata_file, read_json(metadata_file), "objects", dict)
        model = self._compile(xml)
        return read_scene(model, entries, metadata_file)

    def content(self, episode: Episode) -> str:
        try:
            return self._content(self._xml(episode.meta, episode.files.meta))
        except InputError:
            return ""

    def _xml(self, meta: EpisodeMeta, meta_file: Path) -> Path:
        name = get(meta_file, meta.scene, "xml", str, "scene")
        if not Path(name).name or "\0" in name:
            raise InputError(meta_file, "scene.xml", name, "not the name of a file")
        return self.dataset / name

    def _scene_content(self, xml: Path) -> str:
        return fingerprint(scene_files(xml, self._sha256), self._sha256(str(_metadata_file(xml))))

    def _compile(self, xml: Path) -> mujoco.MjModel:
        try:
            spec = mujoco.MjSpec.from_file(str(xml))
            spec.compiler.degree = False
            apply_options(spec, self.sleep)
            add_robot(spec)
            with warnings.catch_warnings():
                # about saving the model as XML, which nobody does
                warnings.filterwarnings("ignore", message="Attaching a spec with an empty prefix")
                return spec.compile()
        except ValueError as error:
            raise InputError(xml, "mjcf", str(error), "MuJoCo can't read or compile this scene") from None


def _metadata_file(xml: Path) -> Path:
    return xml.with_name(f"{xml.stem.removesuffix('_ceiling')}_metadata.json")


def read_scene(model: mujoco.MjModel, entries: Mapping[str, Any], file: Path) -> Scene:
    """The inventory of a compiled scene, from its metadata entries."""
    furniture, objects = [], {}
    bodies = {model.body(i).name: i for i in range(model.nbody)}
    for uid, entry in sorted(entries.items()):
        where = f"objects.{uid}"
        if uid not in bodies:
            raise InputError(file, where, uid, "the scene has no such body")
        category = readable(get(file, entry, "category", str, where))
        if get(file, entry, "is_static", bool, where):
            room = int(entry.get("room_id", 0))
            furniture.append(Furniture(uid, category, room, frozenset(_subtree(model, bodies[uid]))))
        else:
            objects[uid] = _object(model, uid, bodies[uid], category, file, where)
    floors = [g for g in range(model.ngeom) if _is_floor(model, g)]
    return Scene(
        model=model,
        robot=find_robot(model),
        rooms=tuple(_room(model, geom, i) for i, geom in enumerate(floors)),
        furniture=tuple(furniture),
        objects=objects,
        floors=frozenset(floors),
        fingerprint=scene_fingerprint(model),
    )


def readable(category: str) -> str:
    """ "CellPhone" as a question says it: "cell phone"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", category).replace("_", " ").lower()


def _object(model: mujoco.MjModel, uid: str, body: int, category: str, file: Path, where: str) -> SceneObject:
    joint = int(model.body_jntadr[body])
    if model.body_jntnum[body] != 1 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        raise InputError(file, f"{where}.is_static", False, "its body has no free joint")
    synonym = readable(re.split(r"_[0-9a-f]{8,}|_\d", uid)[0])
    names = (category, synonym) if synonym != category else (category,)
    return SceneObject(uid, names, body, int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]))


def _subtree(model: mujoco.MjModel, root: int) -> set[int]:
    found = {root}
    for body in range(root + 1, model.nbody):  # parents come before their children
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return found


def _is_floor(model: mujoco.MjModel, geom: int) -> bool:
    named = model.geom(geom).name.lower().startswith("floor")
    plane = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
    return (named or bool(plane)) and model.geom_bodyid[geom] == 0


def _room(model: mujoco.MjModel, geom: int, index: int) -> Room:
    """A floor's room. A trailing number in the geom's name is the room's index."""
    number = re.search(r"_(\d+)$", model.geom(geom).name)
    x, y, _ = model.geom_pos[geom]
    half_x, half_y = (size if size > 0 else _UNBOUNDED_M for size in model.geom_size[geom][:2])
    return Room(int(number[1]) if number else index, x - half_x, y - half_y, x + half_x, y + half_y)
