"""Whether the process of a run is called dead: where it is, and not where only the clock was set."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assets import launcher
from tests.assets.server import wait_until

BOOTED = launcher._booted()


def booted_after(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel says it when its clock was put forward, or when it began that much later."""
    monkeypatch.setattr(launcher, "_booted", lambda: BOOTED + seconds)


def test_a_process_that_wrote_the_event_is_alive():
    assert launcher._runs(os.getpid(), time.time())


@pytest.mark.parametrize("seconds", [30.0, 500.0, -3600.0])
def test_a_clock_that_was_set_makes_no_run_look_lost(monkeypatch: pytest.MonkeyPatch, seconds: float):
    booted_after(seconds, monkeypatch)
    monkeypatch.setattr(launcher, "_started", lambda pid: 100_000.0)  # the machine is up for more than a day
    assert launcher._runs(os.getpid(), BOOTED + 100_000.0 + 1.0)


def test_a_process_that_was_there_before_the_machine_booted_is_dead(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launcher, "_started", lambda pid: 1.0)
    assert not launcher._runs(os.getpid(), BOOTED - 3.0)
    assert launcher._runs(os.getpid(), BOOTED - 1.0), "within the tolerance"


def test_a_process_that_began_long_after_the_event_is_another_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(launcher, "_started", lambda pid: 100_000.0)
    assert not launcher._runs(os.getpid(), BOOTED + 100_000.0 - 601.0)
    assert launcher._runs(os.getpid(), BOOTED + 100_000.0 - 599.0)


def test_a_process_that_was_killed_is_dead_before_and_after_its_parent_has_noticed():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    now, stat = time.time(), Path(f"/proc/{process.pid}/stat")
    assert launcher._runs(process.pid, now)
    process.kill()
    wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z", 10)
    assert not launcher._runs(process.pid, now)
    process.communicate()
    assert not launcher._runs(process.pid, now)
