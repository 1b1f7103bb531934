"""Where a base can stand: distance maps of the house, seen from above."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import distance_transform_edt
from scipy.spatial import ConvexHull

from sbench_dag.robot.fr3 import FOOTPRINT_RADIUS_M
from sbench_dag.scenes.geometry import geom_corners
from sbench_dag.scenes.scene import Scene

CELL_M = 0.02
# the base is a wide plate that is PLATE_TOP_M high, and a slim column above it
PLATE_TOP_M, COLUMN_TOP_M = 0.13, 1.45
COLUMN_RADIUS_M = 0.10
MARGIN_M = 0.02


@dataclass(frozen=True)
class FreeFloor:
    """Distance in metres from each cell's centre to the nearest obstacle of the plate and of the column.

    The maps cover the rooms; `origin` is the (x, y) of cell [0, 0], rows run along y.
    """

    origin: tuple[float, float]
    plate_clearance: np.ndarray
    column_clearance: np.ndarray

    def is_free(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Whether the base fits at each of the points (...,)."""
        row, column, inside = self._cells(x, y)
        plate = self.plate_clearance[row, column] >= FOOTPRINT_RADIUS_M + MARGIN_M
        return inside & plate & (self.column_clearance[row, column] >= COLUMN_RADIUS_M + MARGIN_M)

    def clearance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Room to move of the plate at each of the points."""
        row, column, inside = self._cells(x, y)
        return np.where(inside, self.plate_clearance[row, column], 0.0)

    def _cells(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        column = np.round((np.asarray(x) - self.origin[0]) / CELL_M).astype(int)
        row = np.round((np.asarray(y) - self.origin[1]) / CELL_M).astype(int)
        rows, columns = self.plate_clearance.shape
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        return np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1), inside


def free_floor(scene: Scene, data: mujoco.MjData) -> FreeFloor:
    """The maps of a scene as `data` has it (after mj_kinematics): walls, furniture, and objects that lie about."""
    x_min, y_min = min(r.x_min for r in scene.rooms), min(r.y_min for r in scene.rooms)
    x_max, y_max = max(r.x_max for r in scene.rooms), max(r.y_max for r in scene.rooms)
    size = round((x_max - x_min) / CELL_M) + 1, round((y_max - y_min) / CELL_M) + 1
    layers = [Image.new("1", size), Image.new("1", size)]
    bands = ((0.02, PLATE_TOP_M), (PLATE_TOP_M, COLUMN_TOP_M))
    for outline, low, high in _outlines(scene, data):
        cells = (outline - (x_min, y_min)) / CELL_M
        for layer, (bottom, top) in zip(layers, bands, strict=True):
            if low < top and high > bottom:
                ImageDraw.Draw(layer).polygon([(float(cx), float(cy)) for cx, cy in cells], fill=1)
    plate, column = (_clearance(np.asarray(layer)) for layer in layers)
    return FreeFloor((x_min, y_min), plate, column)


def _clearance(occupied: np.ndarray) -> np.ndarray:
    # the outside of the rooms is occupied too: a base must not stand half in the garden
    walled = np.pad(occupied, 1, constant_values=True)
    return np.asarray(distance_transform_edt(~walled))[1:-1, 1:-1] * CELL_M


def _outlines(scene: Scene, data: mujoco.MjData):
    """Of each geom that a base could run into: its convex outline from above (N, 2), and its lowest and highest z."""
    model = scene.model
    for geom in range(model.ngeom):
        collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if not collides or geom in scene.floors or scene.robot.bodies[model.geom_bodyid[geom]]:
            continue
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        corners = geom_corners(model, data, geom)
        flat = corners[:, :2]
        outline = flat[ConvexHull(flat).vertices]
        yield outline, corners[:, 2].min(), corners[:, 2].max()
