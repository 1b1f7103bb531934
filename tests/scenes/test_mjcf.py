"""A scene's content is all the files that MuJoCo would read for it."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from sbench_dag.dataset.dataset import Episode
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.scenes.houses.source import HouseSource
from sbench_dag.scenes.mjcf import scene_files

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
BODY = '<worldbody><body name="b"><geom type="mesh" mesh="m"/></body></worldbody>'
MESH = '<asset><mesh name="m" file="m.obj"/></asset>' + BODY
EMPTY = "<mujoco><visual/></mujoco>"
ATTACH = (
    '<asset><model name="c" file="lib/c.xml"/></asset><worldbody><attach model="c" body="b" prefix="x"/></worldbody>'
)


def xml(text: str) -> str:
    return f"<mujoco>{text}</mujoco>"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "s.xml"


@pytest.mark.parametrize(
    "files",
    [
        {"s.xml": xml(MESH), "m.obj": OBJ},
        {"s.xml": xml('<compiler meshdir="k"/>' + MESH), "k/m.obj": OBJ},
        {"s.xml": xml('<compiler assetdir="k"/>' + MESH), "k/m.obj": OBJ},
        {"s.xml": xml('<compiler strippath="true"/>' + MESH.replace("m.obj", "/far/away/m.obj")), "m.obj": OBJ},
        {
            "s.xml": xml('<include file="a/a.xml"/>'),
            "a/a.xml": xml('<include file="b.xml"/>'),
            "a/b.xml": EMPTY,
        },
        {
            "s.xml": xml('<include file="a/a.xml"/>'),
            "a/a.xml": xml('<include file="b.xml"/>'),
            "b.xml": EMPTY,
        },
        {"s.xml": xml('<include file="a\\a.xml"/>'), "a/a.xml": xml(MESH), "m.obj": OBJ},
        {"s.xml": xml('<include file="a/a.xml"/>'), "a/a.xml": xml(MESH), "a/m.obj": OBJ},
        {
            "s.xml": xml('<compiler meshdir="k"/><include file="a/a.xml"/>'),
            "a/a.xml": xml(MESH),
            "k/m.obj": OBJ,
        },
        {"s.xml": xml(ATTACH), "lib/c.xml": xml('<compiler meshdir="k"/>' + MESH), "lib/k/m.obj": OBJ},
        {"s.xml": xml("<!-- a -- b -->" + MESH), "m.obj": OBJ},
        {"s.xml": xml('<worldbody><site name="a&b"/></worldbody>' + MESH), "m.obj": OBJ},
    ],
)
def test_every_file_that_mujoco_reads_is_found(tmp_path: Path, files: dict[str, str]):
    scene = write(tmp_path, files)
    mujoco.MjSpec.from_file(str(scene)).compile()
    assert {(tmp_path / name).resolve() for name in scene_files(scene)} == {(tmp_path / name) for name in files}


@pytest.mark.parametrize(
    "asset",
    [
        '<texture type="2d" file="f"/>',
        '<texture type="cube" fileup="f"/>',
        '<hfield file="f"/>',
        '<skin file="f"/>',
    ],
)
def test_other_kinds_of_assets_are_found(tmp_path: Path, asset: str):
    scene = write(tmp_path, {"s.xml": xml(f'<compiler texturedir="k"/><asset>{asset}</asset>'), "k/f": "", "f": ""})
    assert set(scene_files(scene)) == {"s.xml", "f", "k/f"}


@pytest.mark.parametrize(
    "text", ["", "<", "<mujoco><![foo[", '<?xml version="1.0" encoding="none"?><mujoco/>', "\0\xff"]
)
def test_what_is_no_xml_is_a_file_like_any_other(tmp_path: Path, text: str):
    assert set(scene_files(write(tmp_path, {"s.xml": text}))) == {"s.xml"}


def test_a_scene_that_includes_itself_ends(tmp_path: Path):
    assert set(scene_files(write(tmp_path, {"s.xml": xml('<include file="s.xml"/>')}))) == {"s.xml"}


def test_what_is_missing_is_missing(tmp_path: Path):
    assert scene_files(tmp_path / "s.xml") == {"s.xml": None}
    assert set(scene_files(write(tmp_path, {"s.xml": xml(MESH)}))) == {"s.xml"}


def test_a_houses_content_reads_nothing(tmp_path: Path):
    assert HouseSource().content(Episode("e", EpisodeFiles(tmp_path / "none"))) == ""
