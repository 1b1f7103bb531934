"""Replays answers about a robot's episode as plans in MuJoCo and judges what came of them.

The library knows robots and nothing of orchestration: nothing here imports dagster.
"""

import os
import sys

# MuJoCo picks its OpenGL back end when it is first imported, and without a display only these two render.
if sys.platform == "linux" and "DISPLAY" not in os.environ:
    os.environ.setdefault("MUJOCO_GL", "egl")
    # Mesa's software renderer: one thread a process, for there is a worker per core already
    os.environ.setdefault("LP_NUM_THREADS", "1")

__version__ = "0.1.0"
