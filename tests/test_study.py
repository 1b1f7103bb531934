"""study.toml is checked as strictly as the data."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sbench_dag.errors import InputError, SetupError
from sbench_dag.pipeline import GATES, Fingerprints
from sbench_dag.study import Study, find_study, load_study
from tests.blocks import blocks_study


@pytest.fixture
def study(home: Path) -> Study:
    return blocks_study(home, 2)


def with_toml(study: Study, text: str) -> Study:
    file = study.folder / "study.toml"
    base = (
        f'[dataset]\npath = "../../datasets/blocks"\nrevision = "{study.revision}"\n[scenes]\nsource = "molmospaces"\n'
    )
    file.write_text(base + text)
    return load_study(study.folder)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[juge]\nlift_m = 0.01\n", "juge"),
        ("[judge]\nlift = 0.01\n", "judge.lift"),
        ('[judge]\nlift_m = "high"\n', "judge.lift_m"),
        ("[policy]\nattempts = true\n", "policy.attempts"),
    ],
)
def test_what_is_not_a_setting_is_named(study: Study, text: str, field: str):
    with pytest.raises(InputError) as error:
        with_toml(study, text)
    assert error.value.field == field


def test_a_setting_where_a_table_belongs_is_named_with_its_value(study: Study):
    file = study.folder / "study.toml"
    file.write_text("judge = 3\n" + file.read_text())
    with pytest.raises(InputError, match=r"study\.toml: judge = 3: expected a table"):
        load_study(study.folder)


def test_a_scene_source_that_there_is_not_is_said_with_those_that_there_are(study: Study):
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace('"molmospaces"', '"molmospace"'))
    with pytest.raises(SetupError, match=r"scenes\.source = 'molmospace'.*houses, molmospaces"):
        Fingerprints(load_study(study.folder)).wanted(GATES[0])


def test_a_whole_number_will_do_for_a_real_one(study: Study):
    assert with_toml(study, "[judge]\nhold_s = 1\n").judge.hold_s == 1.0


def test_another_revision_than_the_studys_is_refused(study: Study):
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace(study.revision, "v1.1"))
    with pytest.raises(InputError, match=r"dataset\.revision = 'v1\.1'"):
        _ = load_study(study.folder).dataset


def test_of_two_studies_one_has_to_be_chosen(study: Study, home: Path):
    assert find_study().name == "blocks"
    shutil.copytree(study.folder, study.folder.with_name("other"))
    with pytest.raises(SetupError, match="blocks, other"):
        find_study()


def stale(before: Study, after: Study) -> dict[str, set[str]]:
    """Per gate the keys whose fingerprint differs."""
    old, new = Fingerprints(before), Fingerprints(after)
    return {gate.name: {k for k, f in new.wanted(gate).items() if old.wanted(gate).get(k) != f} for gate in GATES}


def test_a_judge_threshold_makes_verdicts_stale_and_no_rollout(study: Study):
    before = Fingerprints(study)
    after = Fingerprints(with_toml(study, "[video]\nenabled = false\n[judge]\nlift_m = 0.02\n"))
    key = study.manifest.plans[0].key
    assert before.of("rollout", key) == after.of("rollout", key)
    assert before.of("stage_c", key) != after.of("stage_c", key)


def test_a_changed_policy_makes_stage_c_stale_and_not_stage_b(study: Study):
    found = stale(study, with_toml(study, "[video]\nenabled = false\n[policy]\nattempts = 1\n"))
    assert (found["g0_spike"], found["stage_b"]) == (set(), set())
    assert len(found["stage_c"]) == len(found["rollout_rewards"]) == 2


def test_a_changed_file_of_an_episode_makes_that_episode_stale(study: Study):
    before = Fingerprints(study).wanted(GATES[0])
    files = study.dataset.episode("blocks__0").files
    files.last_frame.write_bytes(files.last_frame.read_bytes() + b"\0")
    assert Fingerprints(load_study(study.folder)).wanted(GATES[0]) != before
