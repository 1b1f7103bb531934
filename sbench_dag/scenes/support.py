"""What rests on what: from the contacts of the settled scene, never from intention or truth."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.scenes.scene import Furniture, Room, Scene

UPWARD = 0.3  # z of a contact normal that carries weight: a plate's leaning rim still counts, a wall doesn't

Support = Furniture | Room


def support_map(scene: Scene, data: mujoco.MjData) -> dict[str, Support | None]:
    """Per object the furniture it rests on, or the room on whose floor it lies; None where it rests on neither.

    An object on or in another object rests where that one does. `data` is left alone: the contacts are taken from
    a scratch copy, because bodies that sleep have none.
    """
    carriers = _carriers(scene, data)
    by_body = {body: piece for piece in scene.furniture for body in piece.bodies}
    uid_of = {obj.body: uid for uid, obj in scene.objects.items()}

    def resolve(uid: str, seen: frozenset[str]) -> Support | None:
        below = carriers[uid]
        for body, geom in below:
            if body in by_body:
                return by_body[body]
            if geom in scene.floors:
                x, y, _ = data.qpos[scene.objects[uid].qpos :][:3]
                return scene.room_at(x, y)
        for body, _ in below:
            other = uid_of.get(body)
            if other is not None and other not in seen:
                found = resolve(other, seen | {other})
                if found is not None:
                    return found
        return None

    return {uid: resolve(uid, frozenset({uid})) for uid in scene.objects}


def _carriers(scene: Scene, data: mujoco.MjData) -> dict[str, list[tuple[int, int]]]:
    """Per object the (body, geom) pairs that push it up, sorted."""
    model = scene.model
    scratch = mujoco.MjData(model)
    scratch.qpos[:] = data.qpos
    scratch.mocap_pos[:] = data.mocap_pos
    scratch.mocap_quat[:] = data.mocap_quat
    mujoco.mj_forward(model, scratch)
    uid_of = {obj.body: uid for uid, obj in scene.objects.items()}
    carriers: dict[str, set[tuple[int, int]]] = {uid: set() for uid in scene.objects}
    for geoms, frame in zip(scratch.contact.geom, scratch.contact.frame, strict=True):
        up = frame[2]  # z of the normal, which points from the first geom to the second
        for mine, other, push in ((geoms[1], geoms[0], up), (geoms[0], geoms[1], -up)):
            uid = uid_of.get(int(model.geom_bodyid[mine]))
            if uid is not None and push > UPWARD:
                carriers[uid].add((int(model.geom_bodyid[other]), int(other)))
    return {uid: sorted(found) for uid, found in carriers.items()}


def object_positions(scene: Scene, data: mujoco.MjData) -> dict[str, np.ndarray]:
    """World position (3,) of every object."""
    return {uid: data.qpos[obj.qpos : obj.qpos + 3].copy() for uid, obj in scene.objects.items()}
