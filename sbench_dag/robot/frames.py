"""Rotations as MuJoCo writes them."""

from __future__ import annotations

import mujoco
import numpy as np


def look_at(eye: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Quaternion (w x y z) of an upright camera at `eye` that looks at `target`."""
    back = np.subtract(eye, target)
    back = back / np.linalg.norm(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right = right / np.linalg.norm(right)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.stack([right, np.cross(back, right), back], axis=1).ravel())
    return quat


def rotation_angle(first_wxyz: np.ndarray, second_wxyz: np.ndarray) -> np.ndarray:
    """Angle in radians between unit quaternions (..., 4)."""
    dot = np.abs(np.sum(first_wxyz * second_wxyz, axis=-1))
    return 2.0 * np.arccos(np.clip(dot, 0.0, 1.0))


def yaw_matrix(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def pitch_matrix(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def roll_matrix(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
