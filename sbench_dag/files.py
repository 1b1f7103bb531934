"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(file: Path, content: bytes | str) -> None:
    """Writes under another name, synced, and renames: a reader, or a process that dies here, never sees a part."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    with fresh.open("wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(file)
