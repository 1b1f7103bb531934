"""operations.toml: what is wrong in it is said, and no secret of it is."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.operations import load_operations
from sbench_dag.errors import InputError
from tests.assets.support import Bench

SECRET = "hunter2"


def write(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "operations.toml").write_text(text)


def complaint(home: Path, text: str) -> str:
    write(home, text)
    with pytest.raises(InputError) as error:
        load_operations()
    return str(error.value)


@pytest.mark.parametrize("cron", ["0 25 * * *", "every night", "", "@reboot", "0 0 30 2 *", "* * * * * *"])
def test_a_time_that_dagster_does_not_take_is_named(home: Path, cron: str):
    text = complaint(home, f'[nightly]\ncron = "{cron}"\n')
    assert f"operations.toml: nightly.cron = {cron!r}: no cron expression" in text


@pytest.mark.parametrize("zone", ["Europe/Berlim", "", "Europe", "../etc/passwd"])
def test_a_time_zone_that_there_is_not_is_named(home: Path, zone: str):
    text = complaint(home, f'[nightly]\ntimezone = "{zone}"\n')
    assert f"operations.toml: nightly.timezone = {zone!r}: no time zone" in text


def test_times_and_zones_that_there_are_will_do(home: Path):
    write(home, '[nightly]\ncron = "@daily"\ntimezone = "Europe/Berlin"\n')
    assert load_operations().nightly.timezone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (f'[notify.email]\nhost = "mail"\nto = ["a@b"]\npassword = "{SECRET}"\n', "notify.email.from"),
        (f'[notify]\nwebhok = "https://hooks/{SECRET}"\n', "notify.webhok"),
        (f'[notify]\nslack = ["https://hooks/{SECRET}"]\n', "notify.slack"),
        (f'notify = "https://hooks/{SECRET}"\n', "notify"),
        (f'[notfy]\nslack = "https://hooks/{SECRET}"\n', "notfy"),
        (f'slack = "https://hooks/{SECRET}"\n', "slack"),
    ],
)
def test_a_complaint_names_the_field_and_keeps_secrets(home: Path, text: str, field: str):
    said = complaint(home, text)
    assert f"operations.toml: {field}: " in said and SECRET not in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[nightly]\ncron = "0 25 * * *"\n', "nightly.cron = '0 25 * * *'"),
        ("[stale]\nenabeld = true\n", "stale.enabeld: "),
        ("nonsense", "not valid TOML"),
    ],
)
def test_a_broken_file_shows_why_and_every_study_is_loaded(bench: Bench, home: Path, text: str, why: str):
    write(home, text)
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    specs = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
    assert "by-hand/stage_c" in specs
    description = specs["operations_toml_cannot_be_loaded"].description or ""
    assert "operations.toml" in description and why in description


def test_without_a_study_it_shows_why_too(home: Path):
    write(home, "nonsense")
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    names = {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs()}
    assert names == {"operations_toml_cannot_be_loaded", "no_study_yet"}
