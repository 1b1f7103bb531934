"""An operator's first click: select all, materialize all, in a web server with its daemon."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest

from sbench_dag.study import Study
from tests.assets.scenes import two_scenes
from tests.assets.server import backfill_status, launch, ui, wait_until
from tests.assets.support import Bench
from tests.rewards.bench_data import write_bench

GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report")


@pytest.fixture
def study(served_home: Path) -> Study:
    """Every plan of it is a pick, so that Dagster sees the same partitions in three gates."""
    return two_scenes(served_home, blocks=2)


def test_select_all_materialize_all_ends_with_every_gate_complete(study: Study):
    selection = [{"path": [study.name, name]} for name in (*GATES, "summary")]
    with ui() as port:
        backfill = launch(port, selection, study.manifest.episodes)
        wait_until(lambda: backfill_status(port, backfill) not in ("REQUESTED", "COMPLETING"), 600)
        final = backfill_status(port, backfill)

    with dg.DagsterInstance.get() as instance:
        assert final == "COMPLETED_SUCCESS", why(instance, backfill)
        bench = Bench(study, instance)
        for gate in GATES:
            assert bench.status(gate) == (set(bench.partitions(gate)), set()), gate
        assert instance.get_latest_materialization_event(bench.scope.key("summary")) is not None
        for run in instance.get_runs():
            assert run.asset_selection and len(run.asset_selection) == 1, "no two gates share a run"
            kinds = [event.dagster_event_type for event in instance.all_logs(run.run_id)]
            assert dg.DagsterEventType.STEP_SKIPPED not in kinds


def test_all_partitions_of_a_study_with_a_benchmark_are_done_once_and_each_model_in_a_run_of_its_own(served_home: Path):
    study = two_scenes(served_home, blocks=1)
    write_bench(served_home / "bench")
    file = study.folder / "study.toml"
    file.write_text(f'{file.read_text()}[rewards]\nmodels = ["constant-3", "constant-4"]\nbench = "../../bench"\n')
    names = (*GATES, "summary", "reward_bench")
    with ui() as port:
        backfill = launch(port, [{"path": [study.name, name]} for name in names], None)
        wait_until(lambda: backfill_status(port, backfill) not in ("REQUESTED", "COMPLETING"), 600)
        final = backfill_status(port, backfill)

    with dg.DagsterInstance.get() as instance:
        assert final == "COMPLETED_SUCCESS", why(instance, backfill)
        done = [(run.run_id, *what) for run in instance.get_runs() for what in materialized(instance, run.run_id)]
        bench = Bench(study, instance)
        expected = [(gate, partition) for gate in GATES for partition in bench.partitions(gate)]
        expected += [("summary", None), ("reward_bench", "constant-3"), ("reward_bench", "constant-4")]
        assert Counter((name, partition) for _, name, partition in done) == Counter(expected), "each once"
        # Dagster starts a gate as soon as the first of its partitions can be done, so it may have several runs
        names_of = {run: {name for other, name, _ in done if other == run} for run, _, _ in done}
        assert all(len(names) == 1 for names in names_of.values()), "no two gates share a run"
        assert sum(names == {"reward_bench"} for names in names_of.values()) == 2


def materialized(instance: dg.DagsterInstance, run_id: str) -> list[tuple[str, str | None]]:
    """(asset, partition) of every materialisation of a run."""
    events = (entry.dagster_event for entry in instance.all_logs(run_id))
    return [
        (event.asset_key.path[-1], event.partition)
        for event in events
        if event and event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION and event.asset_key
    ]


def why(instance: dg.DagsterInstance, backfill: str) -> list[object]:
    """What went wrong in a backfill and its runs."""
    found = instance.get_backfill(backfill)
    failed = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    logs = [entry.message for run in failed for entry in instance.all_logs(run.run_id) if entry.level >= logging.ERROR]
    return [found and found.error, *logs]
