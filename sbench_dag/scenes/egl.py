"""The start of a renderer: one process per machine at a time, and never for ever.

Processes that start drawing on one GPU at the same moment can hang in the driver
(https://github.com/google-deepmind/mujoco/issues/3444). Nothing brings such a process back; only another one can try
again, and a cluster gives the item that a worker died of to a new worker.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HANG_S = 120.0
# longer than a hang: else all who wait behind a process that hangs would go ahead at once
PATIENCE_S = 150.0

_STDERR = 2  # what sys.stderr is may have no file behind it
_POLL_S = 0.02
_started = False


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """For making a renderer and its first picture. All are watched; a process's first one is alone on its machine."""
    global _started
    with contextlib.nullcontext() if _started else alone(PATIENCE_S), watched(HANG_S):
        yield
    _started = True


@contextlib.contextmanager
def alone(patience_s: float) -> Iterator[None]:
    """Holds this user's lock on this machine. Without it after patience_s, or where there can be none, it goes ahead.

    A process that dies lets go of it. Machines whose jobs each have a temporary folder have a lock per job.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            path = Path(tempfile.gettempdir()) / f"sbench-egl-{os.getuid()}.lock"
            file = held.enter_context(path.open("a"))
            until = time.monotonic() + patience_s
            while not _locked(file.fileno()) and time.monotonic() < until:
                time.sleep(_POLL_S)
        yield


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def watched(hang_s: float) -> Iterator[None]:
    """Ends the process, with a traceback on stderr and exit code 1, if the block takes longer than hang_s.

    Not a Python thread's doing, which could not run while the driver is called with the interpreter locked. A process
    has only one such timer: one that somebody else set with faulthandler is lost.
    """
    faulthandler.dump_traceback_later(hang_s, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
