"""The scene fingerprint of our own sources: the number of bodies, and a hash of what each of them is."""

from __future__ import annotations

import hashlib

import mujoco
import numpy as np

from sbench_dag.dataset.episode import SceneFingerprint
from sbench_dag.robot.robot import PREFIX

DECIMALS = 6  # a micrometre: what differs between two machines' compilers lies far below


def scene_fingerprint(model: mujoco.MjModel) -> SceneFingerprint:
    """Fingerprint of every body but the robot's: name, parent, pose, mass, and its geoms' types and sizes."""
    digest = hashlib.sha256()
    count = 0
    for i in range(model.nbody):
        body = model.body(i)
        if body.name.startswith(PREFIX):
            continue
        count += 1
        parent = model.body(int(model.body_parentid[i])).name
        digest.update(f"{body.name}<{parent}".encode())
        _add(digest, model.body_pos[i], model.body_quat[i], model.body_mass[i : i + 1])
        first, number = int(model.body_geomadr[i]), int(model.body_geomnum[i])
        for geom in range(first, first + number):
            _add(digest, model.geom_type[geom : geom + 1], model.geom_size[geom], model.geom_pos[geom])
    return SceneFingerprint(count, digest.hexdigest())


def _add(digest: hashlib._Hash, *arrays: np.ndarray) -> None:
    for array in arrays:
        digest.update((np.round(np.asarray(array, dtype=np.float64), DECIMALS) + 0.0).tobytes())
