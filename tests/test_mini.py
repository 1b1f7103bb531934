"""The demo's study, run for real: the robot acts on the truth almost without fail, and the readers stand in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from sbench_dag.cluster.local import LocalCluster
from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.manipulation.replay import replay
from sbench_dag.pipeline import GATES
from sbench_dag.plans.plan import ORACLE
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.study import Study, create_study
from sbench_dag.synthetic.make import make_dataset
from tests.running import rows_of, tasks_of
from tests.slurm import FAST, sandbox


def run(study: Study, workers: int = 2) -> None:
    for gate in GATES:
        list(LocalCluster(workers).run(study.folder, gate.name, tasks_of(study, gate.name)))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    home = tmp_path_factory.mktemp("mini")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(home))
        make_dataset(home / "datasets" / "mini", "mini")
        study = create_study("mini", home / "datasets" / "mini", {"video": {"enabled": False}})
        run(study)
        yield study


@pytest.fixture(scope="module")
def grid(study: Study) -> dict:
    return make_grid(Results(study))


def cell(grid: dict, source: str) -> dict:
    return next(c for c in grid["cells"] if c["source"] == source)


def test_it_is_as_large_as_a_demo_should_be(study: Study):
    queries = {(plan.episode, plan.query) for plan in study.manifest.plans}
    assert len(queries) >= 40
    assert len(study.manifest.plans) >= 120
    assert len({cell.source for cell in study.manifest.cells}) == 12, "ten readers, the oracle and common sense"
    assert study.manifest.problems == ()


def test_everything_has_a_result(grid: dict):
    for c in grid["cells"]:
        assert (c["invalid"], c["not_run"]) == (0, 0)
        assert c["planned"] == c["abstained"] + c["done"]


def test_the_oracle_reaches_and_lifts(grid: dict):
    oracle = cell(grid, ORACLE)
    assert oracle["sr_b"]["rate"] >= 0.98
    assert oracle["p_lifted_given_reached"]["rate"] >= 0.90


def test_the_oracle_lifts_things_of_every_category(study: Study):
    stage_c, counts = rows_of(study, "stage_c"), defaultdict(list)
    for plan in study.manifest.plans:
        if plan.is_oracle and plan.key in stage_c:
            counts[plan.category].append(stage_c[plan.key][1] == "success")
    assert len(counts) >= 12
    for category, lifted in counts.items():
        assert sum(lifted) / len(lifted) >= 0.80, f"{category}: {lifted}"


def test_common_sense_is_below_every_reader_that_sees_well(grid: dict):
    blind = cell(grid, "blind")["sr_b"]["rate"]
    readers = [c for c in grid["cells"] if c["source"].endswith("/low-noise")]
    assert len(readers) == 5
    assert all(blind < c["sr_b"]["rate"] for c in readers)


def test_readers_are_declared_synthetic(grid: dict):
    assert grid["synthetic"]
    assert all(c["synthetic"] for c in grid["cells"] if c["source"] != ORACLE)


def test_a_plan_replayed_alone_gives_the_stored_states_bit_for_bit(study: Study):
    """Whatever ran before it in its worker."""
    rows = rows_of(study, "stage_c")
    keys = [key for key, row in rows.items() if "trace" in row[4]][::7]
    assert len(keys) >= 5
    for key in keys:
        assert replay(study, key, None, (64, 64)).identical


@pytest.mark.parametrize("workers", [1, 4])
def test_the_same_rows_whatever_the_number_of_workers(study: Study, workers: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SBENCH_HOME", str(study.folder.parents[1]))
    other = create_study(f"mini-{workers}", study.dataset_path, {"video": {"enabled": False}})
    run(other, workers)
    for gate in GATES:
        assert rows_of(other, gate.name) == rows_of(study, gate.name)


def test_slurm_gives_the_same_rows(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ten shards, on four nodes, in no order at all."""
    monkeypatch.setenv("SBENCH_HOME", str(tmp_path))
    other = create_study("mini", study.dataset_path, {"video": {"enabled": False}})
    settings = FAST.model_copy(update={"shard_minutes": 0.15})
    with sandbox() as slurm:
        for gate in GATES:
            list(SlurmCluster(settings).run(other.folder, gate.name, tasks_of(other, gate.name)))
        assert len(slurm.tasks()) >= 10
    for gate in ("g0_spike", "stage_b", "rollout", "stage_c", "rollout_rewards"):
        assert rows_of(other, gate) == rows_of(study, gate), gate
    assert make_grid(Results(other)) == make_grid(Results(study))
