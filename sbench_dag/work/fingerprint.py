"""Hashes that say whether a stored row is still the answer to today's question."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import time
from collections.abc import Iterable
from enum import Enum
from pathlib import Path


def fingerprint(*parts: object) -> str:
    """16 hex digits of the parts' canonical JSON. Data classes, enums, paths and tuples are understood."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def combine(parts: Iterable[str]) -> str:
    """16 hex digits of texts that are hashes already: `fingerprint` without the JSON, for the many."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def file_sha256(path: Path) -> str:
    """The file is read again only if it has been touched. What was touched just now may be so once more unseen."""
    stat = path.stat()
    stamp = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)
    known = _hashes.get(path)
    if known and known[0] == stamp:
        return known[1]
    with path.open("rb") as content:  # piece by piece: weights are larger than the memory
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _CLOCK_NS:
        _hashes[path] = (stamp, found)
    return found


def sha256_if_there(path: Path | str) -> str | None:
    """`file_sha256`, or None if the file is missing or can't be read."""
    try:
        return file_sha256(Path(path))
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None


_CLOCK_NS = 2_000_000_000  # no file system's clock is coarser
_hashes: dict[Path, tuple[tuple[int, ...], str]] = {}


def code_sha256(files: Iterable[Path]) -> str:
    """Hash of the files' syntax trees, comments and docstrings left out."""
    digest = hashlib.sha256()
    for file in sorted(files):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            _drop_docstring(node)
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def _drop_docstring(node: ast.AST) -> None:
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) or not node.body:
        return
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        node.body = node.body[1:]


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"can't fingerprint {type(value).__name__}")
