"""What Dagster remembers is read once, and again as soon as anything may have changed."""

from __future__ import annotations

import dagster as dg
import pytest

from assets.memory import Memory, Remembered
from sbench_dag.gate import Keys
from tests.assets.support import Bench, failing, touch

STEP = "stage_b"


@pytest.fixture
def memory(bench: Bench) -> Memory:
    bench.must("g0_spike")
    bench.must(STEP)
    return Memory(bench.instance)


def look(bench: Bench, memory: Memory) -> Remembered:
    memory.refresh([bench.scope.key(STEP)])
    return memory.of(bench.scope.key(STEP), bench.scope.partitions.definitions[Keys.PLAN])


def test_what_has_not_changed_is_not_read_again(bench: Bench, memory: Memory):
    first = look(bench, memory)
    assert set(first.versions) == set(first.events) == set(bench.partitions(STEP)) and not first.failed
    assert look(bench, memory) is first


def test_a_run_makes_it_read_again(bench: Bench, memory: Memory):
    first = look(bench, memory)
    bench.must(STEP)
    assert min(look(bench, memory).events.values()) > max(first.events.values())


def test_what_has_failed_shows(bench: Bench, memory: Memory):
    look(bench, memory)
    plan = bench.partitions(STEP)[1]
    touch(bench, bench.scope.partitions.episode_of[plan])
    bench.must("g0_spike")
    bench.cluster.judge = failing(plan, gate=STEP)
    assert not bench.run(STEP).success
    assert look(bench, memory).failed == {plan}


def test_a_run_that_somebody_deleted_takes_its_events_along(bench: Bench, memory: Memory):
    assert look(bench, memory).versions
    [run] = [r for r in bench.instance.get_runs() if r.asset_selection == {bench.scope.key(STEP)}]
    bench.instance.delete_run(run.run_id)
    assert not look(bench, memory).versions


def test_an_event_that_no_run_has_logged_is_seen(bench: Bench, memory: Memory):
    plan = bench.partitions(STEP)[0]
    tags = {"dagster/data_version": "reported"}
    look(bench, memory)
    bench.instance.report_runless_asset_event(dg.AssetMaterialization(bench.scope.key(STEP), partition=plan, tags=tags))
    assert look(bench, memory).versions[plan] == "reported"
