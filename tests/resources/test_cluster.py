"""The cluster as a Dagster resource."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import dagster as dg
import pytest

from resources.cluster import ClusterResource, LocalConfig, SlurmConfig
from sbench_dag.cluster.alone import Alone
from sbench_dag.cluster.local import LocalCluster
from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.errors import InputError, SetupError
from sbench_dag.outcomes import Outcome
from sbench_dag.study import Study
from sbench_dag.work.item import Task
from sbench_dag.work.store import Line
from tests.running import tasks_of


def never() -> bool:
    return False


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
    monkeypatch.setattr(ClusterResource, "cluster", lambda self, is_cancelled: cluster)
    return ClusterResource(progress=progress)


def test_it_runs_tasks_in_worker_processes(block_study: Study):
    resource = ClusterResource(local=LocalConfig(workers=1, timeout_s=60.0))
    [line] = resource.run(block_study.folder, "g0_spike", tasks_of(block_study, "g0_spike"))
    assert line.outcome is Outcome.SUCCESS


def test_its_settings_reach_the_cluster_and_have_sound_defaults():
    resource = ClusterResource(local=LocalConfig(workers=3, timeout_s=5))
    assert resource.cluster(never) == Alone(LocalCluster(3, 5.0))
    assert ClusterResource().cluster(never) == Alone(LocalCluster())


def test_one_word_selects_slurm():
    resource = ClusterResource(kind="slurm", slurm=SlurmConfig(partition="gpu"))
    cluster = resource.cluster(never)
    assert isinstance(cluster, SlurmCluster)
    assert cluster.settings.partition == "gpu"
    assert cluster.is_cancelled is never


def test_any_other_word_is_refused():
    with pytest.raises(SetupError, match="'slum': there are local and slurm"):
        ClusterResource(kind="slum").cluster(never)


def test_file_environment_and_arguments_in_this_order(home: Path, monkeypatch: pytest.MonkeyPatch):
    assert ClusterResource.configured().kind == "local"
    home.mkdir()
    (home / "cluster.toml").write_text(
        'kind = "slurm"\n[local]\nworkers = 7\n'
        '[slurm]\npartition = "gpu"\nsubmit = ["bash", "-c", "sbm \\"$@\\"", "_"]\n'
    )
    resource = ClusterResource.configured()
    assert (resource.kind, resource.local.workers, resource.slurm.partition) == ("slurm", 7, "gpu")
    assert resource.slurm.submit == ["bash", "-c", 'sbm "$@"', "_"]
    monkeypatch.setenv("SBENCH_CLUSTER", "local")
    assert ClusterResource.configured().kind == "local"
    assert ClusterResource.configured(kind="slurm", workers=2).local.workers == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[slurm]\npartitoin = 'gpu'", "slurm.partitoin: "),
        ("[slurm]\npoll_s = 'often'", "slurm.poll_s = 'often'"),
        ("kind = 'pbs'", "kind = 'pbs'"),
        ("kind", "not valid TOML"),
    ],
)
def test_a_wrong_cluster_file_is_named_with_field_and_value(home: Path, text: str, complaint: str):
    home.mkdir()
    (home / "cluster.toml").write_text(text)
    with pytest.raises(InputError, match=complaint) as error:
        ClusterResource.configured()
    assert "cluster.toml" in str(error.value)


def test_dagster_can_configure_it():
    @dg.asset
    def asks(cluster: ClusterResource) -> int:
        return cluster.local.workers

    result = dg.materialize([asks], resources={"cluster": ClusterResource(local=LocalConfig(workers=5))})
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
