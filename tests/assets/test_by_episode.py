"""Partitions by episode: the same rows per plan, and one status for all plans of an episode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.catch_up import next_runs
from assets.jobs import retry_failed
from assets.memory import Memory
from resources.cluster import ClusterResource
from sbench_dag.errors import InputError
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.stale import Scanner
from sbench_dag.study import create_study, load_study
from sbench_dag.work.store import Store
from tests.assets.support import Bench, everything_works, failing, failure_of, metadata
from tests.by_hand import write_dataset

EPISODES = ["val_0001__0", "val_0002__0"]
GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards")


@pytest.fixture
def bench(home: Path) -> Iterator[Bench]:
    write_dataset(home / "datasets" / "by-hand")
    study = create_study("by-hand", home / "datasets" / "by-hand", {"partitions": {"by": "episode"}})
    with dg.DagsterInstance.ephemeral() as instance:
        yield Bench(study, instance)


def test_every_gate_is_keyed_by_episode(bench: Bench):
    assert {name: bench.partitions(name) for name in (*GATES, "report")} == dict.fromkeys((*GATES, "report"), EPISODES)


def test_an_episodes_event_says_what_became_of_its_plans(bench: Bench):
    bench.run_all()
    assert bench.status("stage_b") == (set(EPISODES), set())
    plans = len(bench.study.manifest.by_episode["val_0001__0"])
    shown = metadata(bench.events("stage_b")["val_0001__0"])
    assert (shown["items"], shown["success"], shown["ran"], shown["cached"]) == (plans, plans, plans, False)
    for name in (*GATES, "report"):
        assert bench.stale(name) == set(), "Dagster agrees"
    assert not next_runs(Memory(bench.instance), bench.scope, Scanner(bench.study.folder).scan).requests


def test_the_rows_are_those_of_partitions_by_plan(bench: Bench):
    """What a partition is concerns Dagster alone."""
    bench.run_all()
    file = bench.study.folder / "study.toml"
    file.write_text(file.read_text().replace('by = "episode"', 'by = "plan"'))
    study = load_study(bench.study.folder)
    wanted = Fingerprints(study).wanted(find_gate("stage_c"))
    assert Store(study.results).results("stage_c", wanted).keys() == wanted.keys()


def test_an_episode_with_a_plan_without_result_is_failed_and_a_retry_runs_that_plan_only(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    bad = bench.study.manifest.by_episode["val_0002__0"][3].key
    bench.must("g0_spike")
    bench.cluster.judge = failing(bad, gate="stage_b")
    result = bench.run("stage_b")
    assert bench.status("stage_b") == ({"val_0001__0"}, {"val_0002__0"})
    assert f"1 of 10 items have no result, the first: {bad}: killed its worker" in failure_of(result)
    bench.cluster.judge, bench.cluster.calls = everything_works, []
    monkeypatch.setattr(ClusterResource, "run", lambda self, *args, **more: bench.cluster.run(*args, **more))
    defs = dg.Definitions(jobs=[retry_failed([bench.scope])], resources={"cluster": ClusterResource()})
    assert defs.resolve_job_def("retry_failed").execute_in_process(instance=bench.instance).success
    assert bench.cluster.keys("stage_b") == [bad]
    assert bench.status("stage_b") == (set(EPISODES), set())


def test_a_changed_episode_is_all_that_is_asked_for(bench: Bench):
    bench.run_all()
    file = bench.study.dataset.episode("val_0001__0").files.final_state
    file.write_bytes(file.read_bytes() + b" ")
    [request] = next_runs(Memory(bench.instance), bench.scope, Scanner(bench.study.folder).scan).requests
    assert request.tags["dagster/asset_partition_range_start"] == "val_0001__0"
    assert request.tags["dagster/asset_partition_range_end"] == "val_0001__0"
    assert bench.stale("g0_spike") == set(), "Dagster learns it from `new_data`, or with the run"


def test_a_new_answer_needs_no_reload(bench: Bench):
    """Its episode is there already."""
    bench.run_all()
    answers = bench.study.dataset.runs[0]
    before = set(bench.study.manifest.entry)
    answers.write_text(answers.read_text().replace('"countertop"', '"floor"'))
    bench.study.refresh_manifest()
    bench.cluster.calls.clear()
    scanner = Scanner(bench.study.folder)
    assert next_runs(Memory(bench.instance), bench.scope, scanner.scan).requests
    bench.must("stage_b")
    new = set(load_study(bench.study.folder).manifest.entry) - before
    assert new and set(bench.cluster.keys("stage_b")) == new


def test_another_word_is_refused(bench: Bench):
    file = bench.study.folder / "study.toml"
    file.write_text(file.read_text().replace('by = "episode"', 'by = "house"'))
    with pytest.raises(InputError, match=r"partitions\.by = 'house': expected plan or episode"):
        load_study(bench.study.folder)
