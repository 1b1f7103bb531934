"""A worker that dies or hangs costs the plan it was working on, and no other."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbench_dag.cluster.local import LocalCluster
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study
from sbench_dag.work.store import Line, Store
from tests.blocks import blocks_study
from tests.running import rows_of, run_here, tasks_of
from tests.slurm import until

COUNT = 5


def run_local(study: Study, gate: str, workers: int = 2, timeout_s: float = 60.0) -> list[Line]:
    """Runs what is missing of one gate in worker processes."""
    return list(LocalCluster(workers, timeout_s).run(study.folder, gate, tasks_of(study, gate)))


def study_with(home: Path, **options: object) -> Study:
    policy = {"name": "tests.policies:Faulty", "options": {**options, "calls": str(home / "calls")}}
    study = blocks_study(home, COUNT, settings={"policy": policy})
    run_here(study, "g0_spike", "stage_b")
    return study


def outcomes(study: Study) -> dict[str, tuple[Outcome, Reason | None]]:
    return {key.split(".")[1]: (row[1], row[2]) for key, row in rows_of(study, "stage_c").items()}


def test_a_plan_that_kills_its_worker_is_invalid_and_its_siblings_are_fine(home: Path):
    study = study_with(home, crash=["block_1"])
    lines = run_local(study, "stage_c")
    assert len(lines) == COUNT
    found = outcomes(study)
    assert found.pop("q01") == (Outcome.INVALID, Reason.WORKER_CRASHED)
    assert set(found.values()) == {(Outcome.SUCCESS, None)}
    assert (home / "calls").read_text().split().count("block_1") == 2, "it had a second chance"


def test_a_plan_that_hangs_is_stopped_and_its_siblings_are_fine(home: Path):
    study = study_with(home, hang=["block_2"])
    run_local(study, "stage_c", timeout_s=6.0)
    found = outcomes(study)
    assert found.pop("q02") == (Outcome.INVALID, Reason.TIMED_OUT)
    assert set(found.values()) == {(Outcome.SUCCESS, None)}


def test_an_exception_becomes_a_row_that_says_where(home: Path):
    study = study_with(home, error=["block_0"])
    run_local(study, "stage_c")
    line = next(line for line in Store(study.results).lines("stage_c") if ".q00." in line.key)
    assert (line.outcome, line.result.reason) == (Outcome.INVALID, Reason.HARNESS_ERROR)
    assert "the policy's server is gone" in line.result.message
    assert "policies.py" in line.result.message


def test_the_same_rows_whatever_the_number_of_workers(home: Path):
    found = []
    for workers in (1, 2, 4):
        study = blocks_study(home, COUNT, name=f"w{workers}")
        for gate in ("g0_spike", "stage_b", "stage_c", "rollout_rewards"):
            run_local(study, gate, workers)
        rows = {gate: rows_of(study, gate) for gate in ("stage_b", "stage_c", "rollout_rewards")}
        found.append({gate: [strip(row) for row in rows[gate].values()] for gate in rows})
    assert found[0] == found[1] == found[2]


def strip(row: tuple) -> tuple:
    """Without what differs because the studies' names do."""
    body = {k: v for k, v in row[4].items() if k != "trace"}
    return (row[1], row[2], body)


def test_nothing_is_run_twice(home: Path):
    study = study_with(home)
    run_local(study, "stage_c")
    assert tasks_of(study, "stage_c") == []
    calls = (home / "calls").read_text().split()
    assert sorted(calls) == [f"block_{i}" for i in range(COUNT)]


def test_an_orchestrator_that_stops_reading_leaves_no_process_behind(home: Path):
    study = study_with(home, hang=[f"block_{i}" for i in range(1, COUNT)])
    run = LocalCluster(1).run(study.folder, "stage_c", tasks_of(study, "stage_c"))
    assert next(run).outcome is Outcome.SUCCESS
    run.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("module", ["sbench_dag.cluster.local", "sbench_dag.cluster.slurm.task"])
def test_only_the_workers_load_the_simulator(module: str):
    code = f"import sys, {module}; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_workers_do_not_outlive_an_orchestrator_that_is_killed(home: Path):
    study = study_with(home, hang=["block_0"])
    code = (
        "import sys; from pathlib import Path; from sbench_dag.cluster.local import LocalCluster; "
        "from sbench_dag.study import load_study; from tests.running import tasks_of\n"
        "if __name__ == '__main__':\n"
        "    study = load_study(Path(sys.argv[1]))\n"
        "    list(LocalCluster(1).run(study.folder, 'stage_c', tasks_of(study, 'stage_c')))\n"
    )
    script = home / "orchestrator.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    orchestrator = subprocess.Popen([sys.executable, str(script), str(study.folder)], env=environment)
    until(lambda: (home / "calls").exists())
    children = subprocess.run(["pgrep", "-P", str(orchestrator.pid)], capture_output=True, text=True).stdout.split()
    orchestrator.kill()
    orchestrator.wait()
    until(lambda: not any(is_running(pid) for pid in children))


def is_running(pid: str) -> bool:
    """A process that nobody has reaped yet has no command line any more."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text() != ""
    except FileNotFoundError:
        return False
