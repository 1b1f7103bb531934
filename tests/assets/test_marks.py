"""Dagster's own stale marks are those of our scan: after a change, after a tick or a reload, and after the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
import pytest

from assets.memory import Memory
from assets.new_data import new_data
from assets.operations import NewDataSettings
from assets.provenance import Input, Provenance, last_observed
from assets.scope import EPISODES
from assets.staleness import keys_of, staleness
from sbench_dag.gate import Keys
from sbench_dag.stale import Scanner, State
from sbench_dag.study import create_study
from tests.assets.support import Bench, touch
from tests.by_hand import write_dataset

STEPS = ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report")
EPISODE = "val_0001__0"
by_both = pytest.mark.parametrize("bench", ["plan", "episode"], indirect=True)


@pytest.fixture
def bench(home: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Everything has run."""
    write_dataset(home / "data")
    study = create_study("by-hand", home / "data", {"partitions": {"by": getattr(request, "param", "plan")}})
    with dg.DagsterInstance.ephemeral() as instance:
        one = Bench(study, instance)
        one.run_all()
        yield one


def tick(bench: Bench, cursor: str | None = None) -> dg.SensorResult:
    """The sensor's, with what the daemon does about it."""
    context = dg.build_sensor_context(instance=bench.instance, cursor=cursor)
    result = new_data([bench.scope], NewDataSettings())(context)
    assert isinstance(result, dg.SensorResult)
    for event in result.asset_events:
        bench.instance.report_runless_asset_event(event)
    return result


def ours(bench: Bench) -> dict[str, set[str]]:
    """The stale partitions of each step, by the scan."""
    scan = Scanner(bench.study.folder).scan()
    found = {}
    for step in STEPS:
        members = bench.scope.partitions.members[keys_of(step)]
        stale = {key for key, item in scan.steps[step].items() if item.state is State.STALE}
        found[step] = {name for name, keys in members.items() if stale & set(keys)}
    return found


def dagsters(bench: Bench) -> dict[str, set[str]]:
    return {step: bench.stale(step) for step in STEPS}


def statuses(bench: Bench) -> list[tuple[set[str], set[str]]]:
    return [bench.status(step) for step in STEPS]


def tags_of(bench: Bench, step: str, key: str) -> Mapping[str, str]:
    """Those of a partition's last event."""
    return bench.events(step)[key].tags or {}


def edit(bench: Bench, text: str) -> None:
    file = bench.study.folder / "study.toml"
    file.write_text(file.read_text() + text)


NOTHING: dict[str, set[str]] = {step: set() for step in STEPS}
JUDGE = "[judge]\nlift_m = 0.02\n"


@by_both
def test_an_episode_that_changes_is_marked_with_the_next_tick_and_no_more_after_the_runs(bench: Bench):
    before = statuses(bench)
    tick(bench)
    assert dagsters(bench) == ours(bench) == NOTHING
    touch(bench, EPISODE)
    tick(bench)
    assert dagsters(bench) == ours(bench)
    assert all(dagsters(bench).values()), "every step has such partitions"
    assert statuses(bench) == before
    bench.must("g0_spike")
    assert dagsters(bench) == ours(bench)
    bench.run_all()
    tick(bench)
    assert dagsters(bench) == ours(bench) == NOTHING
    assert statuses(bench) == before


def test_without_the_sensor_a_run_leaves_nothing_marked_and_the_rest_as_it_is(bench: Bench):
    touch(bench, EPISODE)
    bench.must("g0_spike")
    assert dagsters(bench) == ours(bench)
    bench.run_all()
    assert dagsters(bench) == ours(bench) == NOTHING


def test_a_run_of_one_partition_is_marked_by_what_it_has_read(bench: Bench):
    """Dagster takes what was known before the run began."""
    touch(bench, EPISODE)
    for step in STEPS:
        for key in bench.partitions(step):
            if key.startswith(EPISODE):
                bench.must(step, keys=[key])
    tick(bench)
    assert dagsters(bench) == ours(bench) == NOTHING


def test_an_episode_that_changes_back_is_not_marked(bench: Bench):
    file = bench.study.dataset.episode(EPISODE).files.meta
    text = file.read_text()
    touch(bench, EPISODE)
    tick(bench)
    file.write_text(text)
    tick(bench)
    assert dagsters(bench) == ours(bench) == NOTHING


@by_both
def test_settings_that_change_are_marked_with_the_reload_and_no_more_after_the_runs(bench: Bench):
    before = statuses(bench)
    edit(bench, JUDGE)
    bench.reload()
    assert dagsters(bench) == ours(bench)
    assert dagsters(bench)["stage_c"] and not dagsters(bench)["stage_b"]
    bench.run_all()
    assert dagsters(bench) == ours(bench) == NOTHING
    assert statuses(bench) == before


def test_a_run_of_an_older_code_location_is_marked_by_the_settings_that_it_has_read(bench: Bench):
    edit(bench, JUDGE)
    bench.run_all()
    bench.must("stage_c", keys=bench.partitions("stage_c")[:1])
    bench.reload()
    assert dagsters(bench) == ours(bench) == NOTHING


def test_events_of_another_code_version_are_logged_again(bench: Bench):
    """Such as those of a version that had no settings in it."""
    key, step = bench.partitions("stage_c")[0], "stage_c"
    tags = {**tags_of(bench, step, key), "dagster/code_version": "1"}
    event = dg.AssetMaterialization(bench.scope.key(step), partition=key, tags=tags)
    bench.instance.report_runless_asset_event(event)
    assert bench.stale(step) == {key}
    scan = Scanner(bench.study.folder).scan()
    assert staleness(Memory(bench.instance), bench.scope, scan, step).stale == set(), "newer than one that is right"
    for other in bench.partitions(step):
        tags = {**tags_of(bench, step, other), "dagster/code_version": "1"}
        event = dg.AssetMaterialization(bench.scope.key(step), partition=other, tags=tags)
        bench.instance.report_runless_asset_event(event)
    bench.cluster.calls.clear()
    assert staleness(Memory(bench.instance), bench.scope, scan, step).stale == set(bench.partitions(step))
    bench.must(step)
    assert bench.stale(step) == set() and bench.cluster.calls == []


def test_what_a_sensor_tells_while_a_run_is_under_way_marks_its_results(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    key = bench.scope.key(EPISODES)
    source = Input(key, bench.scope.partitions.upstream(Keys.EPISODE, Keys.EPISODE), {EPISODE: "read"})
    tell = bench.instance.report_runless_asset_event

    def report(event: dg.AssetObservation) -> None:
        tell(event)
        tell(dg.AssetObservation(key, partition=EPISODE, tags={"dagster/data_version": "newer"}))

    monkeypatch.setattr(bench.instance, "report_runless_asset_event", report)
    code = tags_of(bench, "g0_spike", EPISODE)["dagster/code_version"]
    tags = Provenance(bench.instance, code, [source]).tags(EPISODE, "1")
    tell(dg.AssetMaterialization(bench.scope.key("g0_spike"), partition=EPISODE, tags=tags))
    assert tags[f"dagster/input_data_version/{key.to_user_string()}"] == "read"
    assert bench.stale("g0_spike") == {EPISODE}


def test_files_are_read_once_they_have_changed_and_not_at_every_tick(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    touch(bench, EPISODE)
    first = tick(bench)
    assert len(first.asset_events) == 1
    second = tick(bench, first.cursor)
    monkeypatch.setattr("sbench_dag.dataset.dataset.sha256_if_there", None)
    assert tick(bench, second.cursor).asset_events == []


def test_observe_in_the_ui_tells_the_same(bench: Bench):
    touch(bench, EPISODE)
    bench.must(EPISODES, keys=[])
    assert dagsters(bench) == ours(bench)
    content = {name: bench.study.dataset.episode(name).content for name in bench.study.manifest.episodes}
    assert last_observed(bench.instance, bench.scope.key(EPISODES)) == content
