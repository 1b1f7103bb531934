"""The code location: it loads whatever is there, and its graph is the one that was agreed on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_definitions
from assets.instance import CHECKOUT
from assets.of_study import study_assets
from assets.scope import Scope
from sbench_dag.study import create_study, home
from tests.assets.support import Bench
from tests.by_hand import write_dataset

SNAPSHOT = Path(__file__).with_name("graph.json")


def names(defs: dg.Definitions) -> set[str]:
    return {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs()}


def description(defs: dg.Definitions, key: str) -> str:
    [spec] = [spec for spec in defs.resolve_all_asset_specs() if spec.key.to_user_string() == key]
    return spec.description or ""


def test_without_a_study_the_code_location_loads_and_says_what_to_do(home: Path):
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    assert "make demo" in description(defs, "no_study_yet")


def test_all_studies_are_loaded_and_a_broken_one_shows_its_error(bench: Bench):
    create_study("second-one", bench.study.dataset_path)
    broken = home() / "studies" / "broken" / "study.toml"
    broken.parent.mkdir()
    broken.write_text("[dataset]\npath = 3\n")
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    assert {"by-hand/stage_c", "second-one/stage_c", "broken/cannot_be_loaded"} <= names(defs)
    assert "study.toml" in description(defs, "broken/cannot_be_loaded")


def test_two_names_that_dagster_can_not_tell_apart_do_not_take_the_location_down(bench: Bench):
    create_study("by_hand", bench.study.dataset_path)
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    assert "rename one of them" in description(defs, "by_hand/cannot_be_loaded")


@pytest.mark.parametrize("name", ["v1.2", "mit Leerzeichen", "größer", "a-b_c"])
def test_any_name_of_a_study_loads_or_says_why_not(bench: Bench, name: str):
    create_study(name, bench.study.dataset_path)
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    assert any(key.startswith(f"{name}/") for key in names(defs))


def test_a_study_without_picks_loads(home: Path):
    dataset = write_dataset(home / "d")
    for episode in dataset.episodes:
        file = dataset.episode(episode).files.eval_spec
        file.write_text(file.read_text().replace('"lifted"', '"reached_only"'))
    create_study("no-picks", home / "d")
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    assert "no-picks/stage_c" in names(defs)


def test_the_graph_is_the_one_that_was_agreed_on(bench: Bench):
    """After a change on purpose: UPDATE_SNAPSHOT=1 pytest tests/assets/test_definitions.py"""
    found = {}
    graph = bench.defs.resolve_asset_graph()
    for node in sorted(graph.asset_nodes, key=lambda node: node.key):
        found[node.key.to_user_string()] = {
            "group": node.group_name,
            "description": node.description,
            "partitions": node.partitions_def and len(node.partitions_def.get_partition_keys()),
            "max partitions per run": node.backfill_policy and node.backfill_policy.max_partitions_per_run,
            "upstream": sorted(key.to_user_string() for key in node.parent_keys),
            "checks": sorted(key.name for key in node.check_keys),
        }
    if os.environ.get("UPDATE_SNAPSHOT"):
        SNAPSHOT.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(SNAPSHOT.read_text())


def test_no_two_assets_of_a_study_may_share_a_run(bench: Bench):
    made = [asset for asset in study_assets(bench.scope) if isinstance(asset, dg.AssetsDefinition)]
    policies = [asset.backfill_policy for asset in made if asset.partitions_def]
    assert None not in policies
    assert len(set(policies)) == len(policies)


def test_every_asset_and_every_check_says_in_a_sentence_what_it_is(bench: Bench):
    observed, *made = study_assets(Scope(bench.study))
    assert isinstance(observed, dg.SourceAsset) and str(observed.description).endswith(".")
    for asset in made:
        assert isinstance(asset, dg.AssetsDefinition)
        texts = [*asset.descriptions_by_key.values(), *(spec.description for spec in asset.check_specs)]
        assert all(text and text.endswith(".") for text in texts), asset.key


def test_dagster_validates_the_workspace_and_leaves_the_checkout_clean(home: Path):
    before = {path.name for path in CHECKOUT.iterdir()}
    environment = {**os.environ, "DAGSTER_HOME": str(CHECKOUT), "SBENCH_DAGSTER": str(home / "dagster")}
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "-w", "workspace.yaml"]
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert {path.name for path in CHECKOUT.iterdir()} == before


def test_the_gates_that_simulate_share_a_pool_and_nothing_else_is_in_it(bench: Bench):
    graph = bench.defs.resolve_asset_graph()
    pools = {node.key.path[-1]: node.pools for node in graph.asset_nodes}
    assert {name for name, found in pools.items() if found == {"gpu_sim"}} == {"g0_spike", "stage_b", "stage_c"}
    assert pools["report"] == pools["rollout_rewards"] == set()
