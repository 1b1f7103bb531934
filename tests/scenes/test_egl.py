"""Renderers start one process at a time, nobody waits for ever, and a start that hangs ends its process."""

from __future__ import annotations

import faulthandler
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sbench_dag.scenes import egl
from sbench_dag.scenes.render import Camera

SCENE = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="front" pos="0 -2 1" xyaxes="1 0 0 0 .45 .9"/>
    <geom type="plane" size="3 3 .1"/>
    <geom type="box" size=".2 .2 .2" pos="0 0 .2" rgba="1 0 0 1"/>
  </worldbody>
</mujoco>
"""

HOLD = """
import time
from sbench_dag.scenes.egl import alone
with alone(60):
    print(time.monotonic(), flush=True)
    time.sleep({seconds})
    print(time.monotonic())
"""

HANG = f"""
import time
import mujoco
from sbench_dag.scenes import egl
from sbench_dag.scenes.render import Camera

def hang(*_, **__):
    time.sleep(60)

mujoco.Renderer.{{what}} = hang
egl.HANG_S = 1.0
Camera(mujoco.MjModel.from_xml_string('''{SCENE}'''), "front", 32, 24)
"""


def python(code: str, temporary: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, for this test alone, in a process that has not drawn yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(egl, "_started", False)
    return tmp_path


@pytest.fixture
def somebody_holds_it(temporary: Path) -> Iterator[None]:
    with (temporary / f"sbench-egl-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def seconds(block: Callable[[], object]) -> float:
    start = time.monotonic()
    block()
    return time.monotonic() - start


def wait(patience_s: float) -> None:
    with egl.alone(patience_s):
        pass


def scene() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_no_two_processes_hold_it_at_the_same_time(tmp_path: Path):
    processes = [python(HOLD.format(seconds=0.3), tmp_path) for _ in range(4)]
    printed = [process.communicate(timeout=120)[0] for process in processes]
    times = sorted([float(time) for time in lines.split()] for lines in printed)
    assert [len(time) for time in times] == [2] * len(processes)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(times))


def test_one_that_never_lets_go_delays_and_does_not_stop(somebody_holds_it: None):
    assert 0.5 <= seconds(lambda: wait(0.5)) < 5.0


def test_one_that_is_killed_lets_go(temporary: Path):
    holder = python(HOLD.format(seconds=60), temporary)
    assert holder.stdout is not None and holder.stdout.readline()
    assert seconds(lambda: wait(0.2)) >= 0.2, "it is held"
    holder.kill()
    holder.communicate()
    assert seconds(lambda: wait(60.0)) < 5.0


def test_without_a_place_for_the_lock_nobody_waits(temporary: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    assert seconds(lambda: wait(60.0)) < 5.0


def test_a_process_waits_with_its_first_camera_only(somebody_holds_it: None, monkeypatch: pytest.MonkeyPatch):
    model, _ = scene()
    monkeypatch.setattr(egl, "PATIENCE_S", 3.0)
    first = seconds(lambda: Camera(model, "front", 32, 24).close())
    second = seconds(lambda: Camera(model, "front", 32, 24).close())
    assert second < 3.0 <= first


@pytest.mark.parametrize("what", ["__init__", "render"])
def test_a_start_that_hangs_ends_its_process_and_says_where(what: str, tmp_path: Path):
    process = python(HANG.format(what=what), tmp_path)
    _, printed = process.communicate(timeout=50)
    assert process.returncode == 1
    assert "Timeout (0:00:01)" in printed
    assert "in hang" in printed and "render.py" in printed


def test_a_start_in_time_leaves_no_timer_behind(tmp_path: Path):
    code = "import time\nfrom sbench_dag.scenes.egl import watched\nwith watched(0.5):\n    pass\ntime.sleep(1.0)"
    process = python(code, tmp_path)
    assert (process.communicate(timeout=50), process.returncode) == (("", ""), 0)


def test_a_start_that_raises_leaves_no_timer_and_no_lock_behind(temporary: Path, monkeypatch: pytest.MonkeyPatch):
    cancelled = []
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: cancelled.append(True))
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda *_, **__: None)
    model, _ = scene()
    with pytest.raises(ValueError, match="framebuffer width"):
        Camera(model, "front", 10_000, 24)
    assert cancelled == [True]
    assert seconds(lambda: wait(60.0)) < 5.0


def test_the_pictures_are_those_of_a_bare_renderer():
    model, data = scene()
    with Camera(model, "front", 64, 48) as camera:
        found = camera.render(data).copy()
    bare = mujoco.Renderer(model, height=48, width=64)
    for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
        bare.scene.flags[flag] = 0
    bare.update_scene(data, camera="front")
    assert np.array_equal(found, bare.render())
    assert found.std() > 0
    bare.close()
