"""Houses as MuJoCo scenes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sbench_dag.dataset.episode import EpisodeMeta, SceneFingerprint
from sbench_dag.errors import InputError
from sbench_dag.robot.shapes import shape_of
from sbench_dag.scenes.houses.home import plan_house
from sbench_dag.scenes.houses.source import HouseSource, build_house
from sbench_dag.scenes.scene import Furniture, Scene
from sbench_dag.scenes.support import support_map
from sbench_dag.synthetic.posing import park_robot, poses_of


def meta(index: int) -> EpisodeMeta:
    return EpisodeMeta("val_0000__0", "houses", index, SceneFingerprint(0, ""), ())


@pytest.fixture(scope="module")
def scene() -> Scene:
    return HouseSource().build(meta(0))


def test_two_builds_have_the_same_fingerprint_and_other_houses_another(scene: Scene):
    assert HouseSource(sleep=False).build(meta(0)).fingerprint == scene.fingerprint
    assert HouseSource().build(meta(1)).fingerprint != scene.fingerprint


def test_a_negative_house_index_is_an_input_error():
    with pytest.raises(InputError, match="house_index = -1"):
        HouseSource().build(meta(-1))


@pytest.mark.parametrize("index", range(8))
def test_everything_rests_where_it_was_put_and_falls_asleep(index: int):
    plan = plan_house(index)
    scene = build_house(plan)
    data = mujoco.MjData(scene.model)
    park_robot(scene, data)
    uids = tuple(sorted(scene.objects))
    placed = poses_of(scene, data, uids)
    mujoco.mj_step(scene.model, data, 250)
    settled = poses_of(scene, data, uids)
    mujoco.mj_step(scene.model, data, 500)
    assert np.abs(settled - placed)[:, :3].max() < 2e-3
    assert np.abs(poses_of(scene, data, uids) - settled)[:, :3].max() < 1e-3
    trees = [scene.model.body_treeid[scene.objects[uid].body] for uid in uids]
    assert (data.tree_asleep[trees] >= 0).all()
    assert not any(warning.number for warning in data.warning)
    for uid, support in support_map(scene, data).items():
        assert isinstance(support, Furniture) and support.uid == plan.home.places[uid].furniture


def test_every_surface_is_a_named_site_at_its_height(scene: Scene):
    data = mujoco.MjData(scene.model)
    mujoco.mj_kinematics(scene.model, data)
    for surface in plan_house(0).interior.surfaces:
        site = data.site(surface.uid)
        size = np.abs(site.xmat.reshape(3, 3) @ scene.model.site(surface.uid).size)
        assert site.xpos[2] == pytest.approx(surface.height)
        assert tuple(site.xpos[:2]) == pytest.approx(surface.rect.centre)
        assert tuple(size[:2]) == pytest.approx(surface.rect.half)


def test_every_room_has_a_floor_a_light_and_its_simulator_name(scene: Scene):
    assert len(scene.floors) == len(scene.rooms)
    lights = scene.model.light_pos[:, :2]
    for room in scene.rooms:
        assert scene.model.body(f"room_{room.index}")
        assert any(room.contains(x, y) for x, y in lights)
    assert not scene.model.light_castshadow.any()


def test_mugs_bowls_and_plates_are_hollow_and_show_their_rim(scene: Scene):
    rims = {obj.category: shape_of(scene.model, obj.body).rim for obj in scene.objects.values()}
    assert rims["mug"].radius_m == pytest.approx(0.039, abs=1e-3) and rims["mug"].lean_rad == pytest.approx(0.0)
    assert rims["bowl"].radius_m == pytest.approx(0.076, abs=1e-3) and rims["bowl"].thickness_m == pytest.approx(0.004)
    assert rims["plate"].lean_rad > 1.0
    assert rims["can"] is None and rims["box"] is None


def test_the_origin_of_a_thing_is_at_half_its_height(scene: Scene):
    plan = plan_house(0)
    for uid, obj in scene.objects.items():
        thing, parts = plan.home.things[uid], shape_of(scene.model, obj.body).parts
        low = min(p.centre[2] - np.abs(p.rotation[2]) @ p.half for p in parts)
        high = max(p.centre[2] + np.abs(p.rotation[2]) @ p.half for p in parts)
        assert low == pytest.approx(-thing.height / 2, abs=2e-3), uid
        assert high == pytest.approx(thing.height / 2, abs=3e-3), uid
        reach = max(np.hypot(*p.centre[:2]) for p in parts)
        assert reach < thing.radius


def test_masses_are_those_of_household_things(scene: Scene):
    for uid, obj in scene.objects.items():
        assert 0.01 < scene.model.body_mass[obj.body] < 2.0, uid
