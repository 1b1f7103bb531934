"""The units in docs/systemd are ones that systemd takes, and their commands are ones that Dagster has."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
UNITS = sorted((CHECKOUT / "docs" / "systemd").glob("*.service"))


def command(unit: Path) -> list[str]:
    parser = configparser.ConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(unit)
    return shlex.split(parser["Service"]["ExecStart"])


def test_there_is_one_for_each_process():
    assert [unit.stem for unit in UNITS] == ["sbench-code", "sbench-daemon", "sbench-web"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_it(unit: Path, tmp_path: Path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze (package systemd)")
    for each in UNITS:
        (tmp_path / each.name).write_text(each.read_text().replace("/opt/sbench-dag/.venv/bin/python", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", tmp_path / unit.name], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_its_command_is_one_that_there_is(unit: Path):
    [_, *arguments] = command(unit)
    done = subprocess.run([sys.executable, *arguments, "--help"], cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_environment_is_enough_to_find_the_instance(tmp_path: Path):
    lines = (CHECKOUT / "docs" / "systemd" / "sbench.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    places = {"/opt/sbench-dag": str(CHECKOUT), "/srv/sbench": str(tmp_path)}
    for place, here in places.items():
        settings = {name: value.replace(place, here) for name, value in settings.items()}
    info = subprocess.run(
        [Path(sys.executable).with_name("dagster"), "instance", "info"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **settings},
        capture_output=True,
        text=True,
    )
    assert info.returncode == 0, info.stderr
    assert str(tmp_path / "dagster") in info.stdout or "SBENCH_DAGSTER" in info.stdout
