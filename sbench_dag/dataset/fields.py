"""Checked access to the fields of JSON and array files: the one place where `InputError`s are worded."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sbench_dag.errors import InputError

UNIT_TOLERANCE = 1e-3  # a float16 unit quaternion is within it; a norm of 0.9 is not


def read_json(file: Path, kind: type | tuple[type, ...] = dict) -> Any:
    """The file's JSON value, which must be of `kind`."""
    try:
        value = json.loads(file.read_text())
    except FileNotFoundError:
        raise InputError(file, "file", file.name, "does not exist") from None
    except OSError as error:
        raise InputError(file, "file", file.name, f"can't be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(file, "json", str(error), "not valid JSON; is the file truncated?") from None
    if not isinstance(value, kind):
        raise InputError(file, "json", type(value).__name__, f"expected {_names(kind)}")
    return value


def get(file: Path, data: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str = "") -> Any:
    """`data[key]`, which must exist and be of `kind`."""
    path = f"{where}.{key}" if where else key
    if key not in data:
        near = difflib.get_close_matches(key, data, n=1)
        hint = f"; did {near[0]!r} mean {key!r}?" if near else ""
        raise InputError(file, path, None, f"missing{hint}")
    value = data[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(file, path, value, f"expected {_names(kind)}")
    return value


def one_of(file: Path, path: str, value: str, allowed: Iterable[str]) -> str:
    allowed = sorted(allowed)
    if value not in allowed:
        raise InputError(file, path, value, f"expected one of {', '.join(allowed)}")
    return value


def unique(file: Path, path: str, values: Iterable[str]) -> tuple[str, ...]:
    """The values as a tuple; they must be non-empty strings without repetition."""
    values = tuple(values)
    seen: set[str] = set()
    for value in values:
        if not isinstance(value, str) or not value:
            raise InputError(file, path, value, "expected a non-empty string")
        if value in seen:
            raise InputError(file, path, value, "appears twice")
        seen.add(value)
    return values


def array(file: Path, path: str, value: object, shape: tuple[int | None, ...]) -> np.ndarray:
    """The value as a float64 array of `shape` (None: any length) with finite numbers."""
    try:
        result = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(file, path, value, "expected numbers") from None
    if result.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, result.shape, strict=True)):
        wanted = tuple("N" if n is None else n for n in shape)
        raise InputError(file, path, result.shape, f"wrong shape, expected {wanted}")
    if not np.isfinite(result).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise InputError(file, f"{path}{list(index)}", float(result[index]), "not a finite number")
    return result


def unit_quaternions(file: Path, path: str, quat_wxyz: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) checked to be of norm 1, and then normalised to the last bit."""
    norms = np.linalg.norm(quat_wxyz, axis=-1)
    off = np.abs(norms - 1.0)
    if off.size and off.max() > UNIT_TOLERANCE:
        index = [int(i) for i in np.unravel_index(int(off.argmax()), off.shape)]
        raise InputError(
            file,
            f"{path}{index or ''}",
            round(float(norms[tuple(index)]), 6),
            "norm of a quaternion, must be 1",
        )
    return quat_wxyz / norms[..., None]


def _names(kind: type | tuple[type, ...]) -> str:
    return " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
