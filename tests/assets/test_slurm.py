"""Gates on Slurm as an operator sees them: in Dagster's events, and when a run is terminated or the UI restarts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.instance import CHECKOUT
from resources.cluster import ClusterResource, SlurmConfig
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.study import Study
from tests.assets.server import launch, terminate, ui, wait_until
from tests.assets.support import Bench, metadata
from tests.blocks import blocks_study
from tests.running import rows_of, run_here
from tests.slurm import FAST, Sandbox, sandbox

COUNT = 6


@pytest.fixture
def slurm() -> Iterator[Sandbox]:
    with sandbox() as one:
        yield one


def study_of(home: Path, slow_s: float) -> Study:
    policy = {"name": "tests.policies:Faulty", "options": {"slow_s": slow_s, "calls": str(home / "calls")}}
    study = blocks_study(home, COUNT, settings={"policy": policy})
    run_here(study, "g0_spike", "stage_b")
    return study


def calls(home: Path) -> list[str]:
    return sorted((home / "calls").read_text().split())


def test_each_event_says_which_slurm_task_it_came_from(home: Path, slurm: Sandbox):
    with dg.DagsterInstance.ephemeral() as instance:
        bench = Bench(study_of(home, 0.0), instance)
        bench.cluster = ClusterResource(kind="slurm", slurm=SlurmConfig(**FAST.model_dump()))
        bench.reload()
        bench.must("stage_c")
        events = bench.events("stage_c")
        assert len(events) == COUNT
        for key, event in events.items():
            found = metadata(event)
            assert found["slurm job"] in slurm.tasks()
            assert found["node"] in ("c1", "c2")
            assert found.get("slurm state", "RUNNING") in ("RUNNING", "COMPLETED", "COMPLETING")
            assert found["queue_s"] >= 0 and found["run_s"] > 0 and found["max_rss_mib"] > 50
            assert key in Path(found["log"]).read_text()
        assert bench.stale("stage_c") == set()


@pytest.fixture
def operated(served_home: Path, slurm: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study on Slurm that a web server and a daemon of the checkout serve; its picks take a while."""
    monkeypatch.setenv("SBENCH_CLUSTER", "slurm")
    (served_home / "cluster.toml").write_text("[slurm]\npoll_s = 0.5\ngrace_s = 1.0\n")
    return study_of(served_home, slow_s=4.0)


def begin(port: int, study: Study) -> str:
    """Launches Stage C of everything, and waits for its first result; the run's id."""
    picks = [plan.key for plan in study.manifest.plans]
    launch(port, [{"path": [study.name, "stage_c"]}], picks)
    wait_until(lambda: rows_of(study, "stage_c"), 90)
    with dg.DagsterInstance.get() as instance:
        [run] = instance.get_runs()
    return run.run_id


def test_terminating_the_run_cancels_the_array_and_keeps_what_is_done(home: Path, slurm: Sandbox, operated: Study):
    with ui() as port:
        run = begin(port, operated)
        assert slurm.running()
        terminate(port, run)
        with dg.DagsterInstance.get() as instance:
            wait_until(lambda: instance.get_run_by_id(run).status == dg.DagsterRunStatus.CANCELED, 60)  # type: ignore[union-attr]
            messages = [entry.message for entry in instance.all_logs(run)]
        assert slurm.tasks("PD,R,CG") == {}
        assert any("submitted 1 array tasks as job 1" in message for message in messages), "the run's log tells"
        assert any("cancelling 1" in message for message in messages)
    assert 0 < len(rows_of(operated, "stage_c")) < COUNT


def test_restarting_the_ui_leaves_the_array_alone_and_the_next_run_follows_it(
    home: Path, slurm: Sandbox, operated: Study
):
    with ui() as port:
        begin(port, operated)
        [task] = slurm.running()
    assert slurm.running() == [task], "all of Dagster is gone, the array is not"
    time.sleep(3)
    assert slurm.running() == [task]
    with ui(), dg.DagsterInstance.get() as instance:
        bench = Bench(operated, instance)
        bench.cluster = ClusterResource(kind="slurm", slurm=SlurmConfig(**FAST.model_dump()))
        bench.reload()
        bench.must("stage_c")
        assert bench.status("stage_c") == (set(bench.partitions("stage_c")), set())
    assert set(slurm.tasks()) == {task}
    assert calls(home) == [f"block_{i}" for i in range(COUNT)], "nothing ran twice"


def test_one_variable_takes_the_whole_command_to_slurm_and_back(home: Path, slurm: Sandbox):
    """`SBENCH_CLUSTER=slurm python -m assets run` ends with the grid that this machine's own processes give."""
    grids = {}
    for kind in ("local", "slurm"):
        study = blocks_study(home, 3, name=f"by-{kind}")
        variables = {"DAGSTER_HOME": str(CHECKOUT), "SBENCH_DAGSTER": str(home / "dagster"), "SBENCH_CLUSTER": kind}
        (home / "cluster.toml").write_text("[slurm]\npoll_s = 0.5\ngrace_s = 1.0\n")
        command = [sys.executable, "-m", "assets", "run", "--study", study.name]
        done = subprocess.run(command, cwd=CHECKOUT, env={**os.environ, **variables}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ("submitted 1 array tasks as job" in done.stderr) is (kind == "slurm")
        grids[kind] = make_grid(Results(study))["cells"]
    assert grids["local"] == grids["slurm"]
    assert len(slurm.tasks()) == 4, "one for each gate"
