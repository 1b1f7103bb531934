"""The cluster as a Dagster resource."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import dagster as dg
import pytest

from resources.cluster import ClusterResource
from sbench_dag.cluster.local import LocalCluster
from sbench_dag.outcomes import Outcome
from sbench_dag.study import Study
from sbench_dag.work.store import Line
from sbench_dag.worker import Task
from tests.running import tasks_of


class Three:
    """A cluster that yields three lines and notes when it is closed."""

    def __init__(self) -> None:
        self.closed = False

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line, None, None]:
        try:
            yield from (f"line {i}" for i in range(3))  # type: ignore[misc]
        finally:
            self.closed = True


def resource_of(cluster: Three, progress: bool, monkeypatch: pytest.MonkeyPatch) -> ClusterResource:
    monkeypatch.setattr(ClusterResource, "cluster", lambda self: cluster)
    return ClusterResource(progress=progress)


def test_it_runs_tasks_in_worker_processes(block_study: Study):
    resource = ClusterResource(workers=1, timeout_s=60.0)
    [line] = resource.run(block_study.folder, "g0_spike", tasks_of(block_study, "g0_spike"))
    assert line.outcome is Outcome.SUCCESS


def test_its_settings_reach_the_cluster_and_have_sound_defaults():
    assert ClusterResource(workers=3, timeout_s=5).cluster() == LocalCluster(3, 5.0)
    assert ClusterResource().cluster() == LocalCluster()


def test_dagster_can_configure_it():
    @dg.asset
    def asks(cluster: ClusterResource) -> int:
        return cluster.workers

    result = dg.materialize([asks], resources={"cluster": ClusterResource(workers=5)})
    assert result.output_for_node("asks") == 5


@pytest.mark.parametrize("progress", [True, False])
def test_the_bar_is_drawn_only_where_it_is_wanted(
    progress: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    lines = list(resource_of(Three(), progress, monkeypatch).run(Path(), "stage_b", []))
    assert len(lines) == 3
    assert ("stage_b" in capsys.readouterr().err) is progress


def test_closing_it_stops_the_cluster(monkeypatch: pytest.MonkeyPatch):
    cluster = Three()
    run = resource_of(cluster, False, monkeypatch).run(Path(), "stage_b", [])
    next(run)
    run.close()
    assert cluster.closed
