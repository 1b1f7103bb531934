"""New answers reach the UI: by themselves where web server and daemon share a code server, else as a notice."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from assets.instance import CHECKOUT
from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.study import Study
from tests.assets.server import launch, partitions, shared_code_server, terminate, ticks, ui, wait_until
from tests.blocks import blocks_study
from tests.running import rows_of, run_here

COUNT = 2


@pytest.fixture
def study(home: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Two plans that have passed Stage B, and a Stage C that waits to be let go."""
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    (home / "dagster").mkdir(parents=True)
    (home / "operations.toml").write_text("[new_data]\ninterval_s = 1\n")
    with dg.DagsterInstance.get():
        pass
    policy = {"name": "tests.assets.policies:Held", "options": {"folder": str(home)}}
    one = blocks_study(home, COUNT, settings={"policy": policy})
    run_here(one, "g0_spike", "stage_b")
    return one


def answer_every_query(study: Study) -> None:
    """A model that says what nobody else has said: a new plan for each query."""
    [episode] = study.dataset.episodes
    queries = study.dataset.episode(episode).eval_spec.queries
    answers = tuple(
        Answer(episode, q.query, "last-seen", (Selection(q.category, None, "nowhere"),), False, None, row)
        for row, q in enumerate(queries)
    )
    file = study.dataset_path / "answers" / "s3_new" / "results.json"
    texts = {(episode, q.query): q.text for q in queries}
    write_run(file, Run(file, "new", study.revision, False, answers), texts)


@pytest.mark.parametrize("end", ["finishes", "is terminated"])
def test_partitions_appear_without_a_click_and_the_run_that_is_in_flight_goes_on(home: Path, study: Study, end: str):
    with shared_code_server(home) as workspace, ui(workspace) as port, dg.DagsterInstance.get() as instance:
        before = partitions(port, study.name, "stage_c")
        launch(port, [{"path": [study.name, "stage_c"]}], before)
        wait_until((home / "calls").exists, 120)
        [run] = instance.get_runs()

        answer_every_query(study)
        wait_until(lambda: len(partitions(port, study.name, "stage_c")) == 2 * COUNT, 180)
        assert set(before) < set(partitions(port, study.name, "stage_c"))
        wait_until(lambda: ticks(port, "new_data")[0]["skipReason"] == "nothing new", 60)

        assert status(instance, run) is dg.DagsterRunStatus.STARTED
        if end == "is terminated":
            terminate(port, run.run_id)
            wait_until(lambda: status(instance, run) is dg.DagsterRunStatus.CANCELED, 60)
            return
        (home / "go").touch()
        wait_until(lambda: status(instance, run) is not dg.DagsterRunStatus.STARTED, 120)
        assert status(instance, run) is dg.DagsterRunStatus.SUCCESS
        assert set(rows_of(study, "stage_c")) == set(before)
        assert len((home / "calls").read_text().split()) == COUNT, "nothing ran twice"


def test_where_each_has_its_own_code_server_the_ui_says_what_to_do(study: Study):
    with ui() as port, dg.DagsterInstance.get() as instance:
        wait_until(lambda: ticks(port, "new_data"), 120)
        answer_every_query(study)
        wait_until(lambda: any("presses Reload" in (tick["skipReason"] or "") for tick in ticks(port, "new_data")), 180)
        wait_until(lambda: observed(instance, dg.AssetKey([study.name, "stage_b"])), 30)


def observed(instance: dg.DagsterInstance, asset: dg.AssetKey) -> list[str]:
    """What the events of an asset's page say."""
    found = [record.asset_observation for record in instance.fetch_observations(asset, limit=5).records]
    return [one.description for one in found if one and one.description and "presses Reload" in one.description]


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status
