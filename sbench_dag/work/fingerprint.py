"""Hashes that say whether a stored row is still the answer to today's question."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
from collections.abc import Iterable
from enum import Enum
from pathlib import Path


def fingerprint(*parts: object) -> str:
    """16 hex digits of the parts' canonical JSON. Data classes, enums, paths and tuples are understood."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
