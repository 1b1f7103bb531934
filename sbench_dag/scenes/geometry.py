"""Boxes around geoms and bodies."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def body_geoms(model: mujoco.MjModel, bodies: Collection[int]) -> list[int]:
    """Ids of the colliding geoms of the bodies."""
    wanted = np.isin(model.geom_bodyid, list(bodies))
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return np.flatnonzero(wanted & collides).tolist()


def geom_corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> np.ndarray:
    """World corners (8, 3) of the geom's own bounding box."""
    centre, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    return data.geom_xpos[geom] + (centre + _CORNERS * half) @ data.geom_xmat[geom].reshape(3, 3).T
