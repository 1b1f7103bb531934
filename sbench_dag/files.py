"""Files that are there whole or not at all, and locks on them."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from sbench_dag.errors import SetupError


def write_whole(file: Path, content: bytes | str) -> None:
    """Writes under another name, synced, and renames: a reader, or a process that dies here, never sees a part."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    with fresh.open("wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(file)


def lock(file: IO, wait: bool = True) -> bool:
    """Locks a file that is open for writing, for this process alone, until it is closed. False: another one has it.

    A process that dies lets go of its locks.

    Raises:
        SetupError: the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        raise SetupError(f"{file.name} can't be locked ({error}); on Lustre, mount with -o flock") from None
    return True
