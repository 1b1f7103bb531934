"""The sensor `new_data`, tick by tick."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin

import assets.new_data
from assets.new_data import new_data
from assets.operations import NewDataSettings
from assets.reload import ID_TIMEOUT_S, TIMEOUT_S, load_error, reload_location
from assets.scope import EPISODES, Scope
from sbench_dag.dataset.dataset import write_dataset_info
from sbench_dag.study import Study, create_study, load_study
from tests.assets.support import Bench
from tests.by_hand import write_answers, write_dataset, write_episode

SHARED = GrpcServerCodeLocationOrigin(host="localhost", port=1, location_name="sbench-dag")
NEW = [("last-seen", "q00", "bedroom", "floor"), ("last-seen", "q02", "bedroom", "bed")]
"""The first is a place that nobody else has answered: one new plan for each of the two episodes."""


class Operator:
    """A code location whose sensor ticks when it is told to, and the daemon's memory of it.

    events: the last tick's notices.
    """

    def __init__(self, instance: dg.DagsterInstance, *studies: Study):
        self.instance = instance
        self.studies = studies
        self.cursor: str | None = None
        self.origin: GrpcServerCodeLocationOrigin | None = None
        self.events: list[dg.AssetObservation] = []
        self.load()

    def load(self) -> None:
        """As a reload of the code location does."""
        self.scopes = [Scope(load_study(study.folder)) for study in self.studies]
        for scope in self.scopes:
            _ = scope.partitions.keys

    def tick(self) -> str:
        context = dg.build_sensor_context(instance=self.instance, cursor=self.cursor)
        context._code_location_origin = self.origin
        result = new_data(self.scopes, NewDataSettings())(context)
        assert isinstance(result, dg.SensorResult) and result.skip_reason and not result.run_requests
        self.cursor = result.cursor
        for event in result.asset_events:
            self.instance.report_runless_asset_event(event)
        events = [event for event in result.asset_events if isinstance(event, dg.AssetObservation)]
        self.events = [event for event in events if event.asset_key.path[-1] != EPISODES]
        return str(result.skip_reason.skip_message)

    def ticks(self, count: int = 2) -> str:
        """Two: files have come to rest when the second tick finds what the first one did."""
        return [self.tick() for _ in range(count)][-1]

    def plans(self, study: Study | None = None) -> set[str]:
        return set(load_study((study or self.studies[0]).folder).manifest.by_key)


@pytest.fixture
def operator(home: Path) -> Iterator[Operator]:
    """The study of by_hand.py, after the sensor's first ticks."""
    write_dataset(home / "datasets" / "by-hand")
    with dg.DagsterInstance.ephemeral() as instance:
        one = Operator(instance, create_study("by-hand", home / "datasets" / "by-hand"))
        assert one.ticks() == "nothing new"
        yield one


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The requests that a shared code server has got."""
    asked: list[object] = []
    monkeypatch.setattr(assets.new_data, "reload_location", lambda origin: asked.append(origin) or "")
    return asked


def root(operator: Operator) -> Path:
    return operator.studies[0].dataset_path


def test_nothing_is_built_or_said_while_nothing_changes(operator: Operator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(assets.new_data, "build_manifest", None)
    assert operator.ticks() == "nothing new"
    assert operator.events == []


def test_answers_of_a_new_model_become_plans_once_their_files_have_come_to_rest(operator: Operator):
    before = operator.plans()
    write_answers(root(operator), "new", NEW)
    assert "come to rest" in operator.tick()
    assert operator.plans() == before
    assert "the manifest is rebuilt: 22 plans of 2 episodes, 2 new, 0 gone" in operator.tick()
    assert len(operator.plans() - before) == 2


def test_a_file_that_is_still_growing_is_waited_for(operator: Operator):
    file = write_answers(root(operator), "new", NEW)
    whole = file.read_text()
    for end in (10, 100, 200):
        file.write_text(whole[:end])
        assert "come to rest" in operator.tick()
    file.write_text(whole)
    assert "problems" not in operator.ticks()
    assert len(operator.plans()) == 22


def test_the_first_look_of_all_builds_nothing_because_files_may_be_changing(operator: Operator):
    operator.cursor = None
    file = write_answers(root(operator), "new", NEW)
    whole = file.read_text()
    file.write_text(whole[:100])
    assert "first look" in operator.tick()
    file.write_text(whole)
    assert "come to rest" in operator.tick()
    assert "0 gone" in operator.tick() and len(operator.plans()) == 22


def test_answers_that_change_and_go_change_and_go_as_plans(operator: Operator):
    before = operator.plans()
    file = write_answers(root(operator), "new", NEW)
    operator.ticks()
    added = operator.plans() - before
    operator.load()
    write_answers(root(operator), "new", [("last-seen", "q02", "bedroom", "bed")])
    assert "0 new, 2 gone" in operator.ticks()
    operator.load()
    write_answers(root(operator), "new", NEW)
    operator.ticks()
    assert operator.plans() == before | added
    shutil.rmtree(file.parent)
    operator.ticks()
    assert operator.plans() == before


def test_whose_answers_they_are_is_read_again(operator: Operator):
    file = root(operator) / "answers" / "s3_vlm" / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model": "renamed"}))
    operator.ticks()
    sources = {cell.source for cell in load_study(operator.studies[0].folder).manifest.cells}
    assert "last-seen/renamed" in sources and "last-seen/vlm" not in sources


def test_no_reload_is_asked_for_when_the_partitions_are_the_same(operator: Operator, reloads: list):
    operator.origin = SHARED
    write_answers(root(operator), "another", [("last-seen", "q00", "bedroom", "bed")])
    assert "0 new, 0 gone" in operator.ticks()
    assert reloads == []


def test_episodes_come_and_go(operator: Operator):
    write_episode(root(operator), "val_0003__0")
    assert "of 3 episodes" in operator.ticks()
    operator.load()
    shutil.rmtree(root(operator) / "episodes" / "val_0003__0")
    assert "of 2 episodes" in operator.ticks()


def test_a_changed_truth_changes_the_oracles_plan(operator: Operator):
    file = root(operator) / "episodes" / "val_0001__0" / "eval_spec.json"
    file.write_text(file.read_text().replace('"surface": "table"', '"surface": "countertop"'))
    assert "new," in operator.ticks()
    assert operator.plans() != set(operator.scopes[0].study.manifest.by_key)


def test_a_broken_results_file_is_a_problem_that_costs_its_plans_and_nothing_else(operator: Operator):
    before = operator.plans()
    file = write_answers(root(operator), "new", NEW)
    file.write_text(file.read_text()[:50])
    text = operator.ticks()
    assert "1 problems" in text and str(file) in text and "truncated" in text
    assert operator.plans() == before


def test_another_revision_is_said_and_nothing_is_touched(operator: Operator):
    before = operator.plans()
    info = operator.studies[0].dataset.info
    write_answers(root(operator), "new", NEW)
    write_dataset_info(root(operator), type(info)(info.name, info.profile, "by-hand-2", True))
    for _ in range(3):
        text = operator.tick()
        assert "by-hand: left as it is" in text and "'by-hand-2'" in text and "sbench study create" in text
    assert operator.plans() == before
    write_dataset_info(root(operator), info)
    operator.ticks()
    assert len(operator.plans()) == 22


@pytest.mark.parametrize("broken", ["study.toml", "dataset.json", "episodes"])
def test_a_broken_study_does_not_stop_the_others(operator: Operator, home: Path, broken: str):
    write_dataset(home / "datasets" / "sound")
    sound = create_study("sound", home / "datasets" / "sound")
    operator.studies = (*operator.studies, sound)
    operator.load()
    operator.tick()
    if broken == "study.toml":
        (operator.studies[0].folder / broken).write_text("no")
    elif broken == "dataset.json":
        (root(operator) / broken).unlink()
    else:
        shutil.rmtree(root(operator) / broken)
    write_answers(sound.dataset_path, "new", NEW)
    text = operator.ticks()
    assert "by-hand: left as it is" in text and "sound: the manifest is rebuilt" in text
    assert len(operator.plans(sound)) == 22


def test_a_shared_code_server_is_asked_to_reload_until_it_has(operator: Operator, reloads: list):
    operator.origin = SHARED
    write_answers(root(operator), "new", NEW)
    assert "the code location is reloaded for by-hand" in operator.ticks()
    assert reloads == [SHARED]
    assert operator.events == []
    operator.tick()
    assert reloads == [SHARED, SHARED], "this process still has the old partitions"
    operator.load()
    assert operator.tick() == "nothing new"
    assert len(reloads) == 2


def edit(operator: Operator, text: str) -> None:
    file = operator.studies[0].folder / "study.toml"
    file.write_text(file.read_text() + text)


def test_other_settings_are_reloaded_until_they_are_loaded(operator: Operator, reloads: list):
    operator.origin = SHARED
    edit(operator, "[judge]\nlift_m = 0.02\n")
    assert "study.toml is not the one that the code location was loaded with" in operator.tick()
    operator.tick()
    assert reloads == [SHARED, SHARED]
    operator.load()
    assert operator.tick() == "nothing new"


def test_other_settings_are_said_where_nobody_can_reload(operator: Operator):
    edit(operator, "[judge]\nlift_m = 0.02\n")
    assert "settings have changed at" in operator.tick()
    assert {event.asset_key.path[-1] for event in operator.events} >= {"g0_spike", "stage_c", "report"}


def test_other_partitions_by_study_toml_wait_for_what_is_under_way(operator: Operator, reloads: list):
    operator.origin = SHARED
    asset = dg.AssetKey(["by-hand", "stage_b"])
    run = dg.DagsterRun(job_name="any", status=dg.DagsterRunStatus.STARTED, asset_selection=frozenset([asset]))
    operator.instance.add_run(run)
    edit(operator, '[partitions]\nby = "episode"\n')
    assert "20 partitions are to go, which waits for what is under way" in operator.tick()
    assert reloads == []
    operator.instance.delete_run(run.run_id)
    operator.tick()
    assert reloads == [SHARED]


def test_a_crash_between_rebuild_and_reload_loses_nothing(
    operator: Operator, reloads: list, monkeypatch: pytest.MonkeyPatch
):
    operator.origin = SHARED
    write_answers(root(operator), "new", NEW)
    operator.tick()
    with monkeypatch.context() as crash:
        crash.setattr(assets.new_data, "reload_location", lambda origin: exec("raise KeyboardInterrupt"))
        with pytest.raises(KeyboardInterrupt):
            operator.tick()
    assert len(operator.plans()) == 22
    operator.tick()
    assert reloads == [SHARED]


def test_a_manifest_that_somebody_else_has_rebuilt_is_reloaded_too(operator: Operator, reloads: list):
    operator.origin = SHARED
    write_answers(root(operator), "new", NEW)
    assert load_study(operator.studies[0].folder).refresh_manifest()
    operator.ticks()
    assert reloads == [SHARED]


def test_a_lost_manifest_or_cursor_is_made_again(operator: Operator):
    before = operator.plans()
    shutil.rmtree(operator.studies[0].manifest_folder)
    operator.tick()
    assert operator.plans() == before
    operator.cursor = '{"by-hand": {"of": "another version"}}'
    assert operator.ticks() == "nothing new"


def test_without_a_shared_code_server_ticks_and_assets_say_that_reload_has_to_be_pressed(operator: Operator):
    write_answers(root(operator), "new", NEW)
    assert "presses Reload" in operator.ticks()
    assert {event.asset_key.path[-1] for event in operator.events} >= {"g0_spike", "stage_b", "stage_c", "report"}
    assert all("presses Reload" in (event.description or "") for event in operator.events)
    assert "presses Reload" in operator.tick()
    assert operator.events == [], "once is enough"
    operator.load()
    assert "presses Reload" in operator.tick(), "the daemon follows by itself; nobody knows whether the web server did"


def test_after_a_day_nobody_is_asked_to_press_reload_any_more(operator: Operator, monkeypatch: pytest.MonkeyPatch):
    write_answers(root(operator), "new", NEW)
    operator.ticks()
    operator.load()
    now = time.time()
    monkeypatch.setattr("assets.new_data.time.time", lambda: now + 23 * 3600)
    assert "presses Reload" in operator.tick()
    monkeypatch.setattr("assets.new_data.time.time", lambda: now + 25 * 3600)
    assert operator.tick() == "nothing new"


def partitions_by(operator: Operator, what: str) -> None:
    file = operator.studies[0].folder / "study.toml"
    file.write_text(file.read_text().split("[partitions]")[0] + f'[partitions]\nby = "{what}"\n')


def test_other_partitions_of_the_same_manifest_are_reloaded_too(operator: Operator, reloads: list):
    operator.origin = SHARED
    for what in ("episode", "plan"):
        partitions_by(operator, what)
        assert "the code location is reloaded for by-hand" in operator.tick()
        operator.load()
        assert operator.tick() == "nothing new"
    assert reloads == [SHARED, SHARED]


def test_other_partitions_of_the_same_manifest_are_told_without_a_shared_code_server(operator: Operator):
    partitions_by(operator, "episode")
    assert "presses Reload" in operator.tick()
    assert operator.events


def test_the_notice_is_no_news_to_dagsters_stale_status(bench: Bench):
    bench.run_all()
    key = bench.scope.key("stage_b")
    bench.instance.report_runless_asset_event(dg.AssetObservation(key, description="reload"))
    assert bench.stale("stage_b") == bench.stale("stage_c") == set()


@pytest.fixture
def backfill(operator: Operator) -> PartitionBackfill:
    """One of a plan of the model whose answers the tests take away."""
    write_answers(root(operator), "new", NEW)
    operator.ticks()
    operator.load()
    one = PartitionBackfill(
        "b", BulkActionStatus.REQUESTED, False, {}, 0.0, asset_selection=[dg.AssetKey(["by-hand", "stage_b"])]
    )
    operator.instance.add_backfill(one)
    return one


def test_partitions_do_not_go_while_a_backfill_of_the_study_is_under_way(
    operator: Operator, backfill: PartitionBackfill, reloads: list
):
    operator.origin = SHARED
    shutil.rmtree(root(operator) / "answers" / "s3_new")
    assert "2 partitions are to go, which waits for what is under way: backfill b" in operator.ticks()
    assert len(operator.plans()) == 22 and reloads == []
    operator.instance.update_backfill(backfill.with_status(BulkActionStatus.COMPLETED_SUCCESS))
    operator.tick()
    assert len(operator.plans()) == 20 and reloads == [SHARED]


def test_plans_that_become_partitions_of_episodes_wait_for_a_backfill(
    operator: Operator, backfill: PartitionBackfill, reloads: list
):
    operator.origin = SHARED
    partitions_by(operator, "episode")
    assert "22 partitions are to go" in operator.ticks()
    operator.instance.update_backfill(backfill.with_status(BulkActionStatus.COMPLETED_SUCCESS))
    operator.tick()
    assert reloads == [SHARED]


def test_a_pick_that_is_none_any_more_waits_for_a_backfill(
    operator: Operator, backfill: PartitionBackfill, reloads: list
):
    """Its plan stays: what goes is a partition of Stage C only."""
    operator.origin = SHARED
    file = root(operator) / "episodes" / "val_0001__0" / "eval_spec.json"
    file.write_text(file.read_text().replace('"lifted"', '"reached_only"'))
    assert "are to go, which waits for what is under way: backfill b" in operator.ticks()
    assert reloads == []


def test_partitions_come_while_a_backfill_is_under_way(operator: Operator, backfill: PartitionBackfill, reloads: list):
    operator.origin = SHARED
    write_answers(root(operator), "newer", [("last-seen", "q02", "bedroom", "floor")])
    operator.ticks()
    assert reloads == [SHARED]


@pytest.mark.parametrize(("study", "waits"), [("by-hand", True), ("other", False)])
def test_a_run_holds_up_its_own_study_only(operator: Operator, backfill: PartitionBackfill, study: str, waits: bool):
    operator.instance.update_backfill(backfill.with_status(BulkActionStatus.CANCELED))
    asset = dg.AssetKey([study, "stage_b"])
    operator.instance.add_run(
        dg.DagsterRun(job_name="any", status=dg.DagsterRunStatus.STARTED, asset_selection=frozenset([asset]))
    )
    shutil.rmtree(root(operator) / "answers" / "s3_new")
    assert ("waits for what is under way: run" in operator.ticks()) is waits


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine may be busy."""
    monkeypatch.setattr("assets.reload.TIMEOUT_S", 200)


def test_what_would_not_load_is_not_reloaded(home: Path, patience: None):
    assert load_error() == ""
    home.mkdir(exist_ok=True)
    (home / "operations.toml").write_text("[new_data]\nenable = false\n")
    text = reload_location(SHARED)
    assert "not reloaded" in text and "new_data.enable" in text


def test_a_tick_has_time_for_the_check_and_for_the_reload():
    assert 2 * TIMEOUT_S + 2 * ID_TIMEOUT_S < 60


def test_a_check_that_dies_without_a_word_is_said(patience: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assets.reload._LOAD", "import os; os.kill(os.getpid(), 9)")
    assert load_error() == "its process ended with -9"


@pytest.mark.parametrize("step", ["create_client", "get_server_id", "reload_code"])
def test_whatever_the_client_raises_is_said(monkeypatch: pytest.MonkeyPatch, step: str):
    def fails(*args: object, **more: object) -> None:
        raise RuntimeError("no such thing")

    class Client:
        def get_server_id(self, timeout: int) -> str:
            return "one"

        def reload_code(self, timeout: int) -> None:
            pass

    client = Client()
    monkeypatch.setattr("assets.reload.load_error", lambda: "")
    monkeypatch.setattr(GrpcServerCodeLocationOrigin, "create_client", lambda self: client)
    monkeypatch.setattr(GrpcServerCodeLocationOrigin if step == "create_client" else client, step, fails, raising=True)
    assert "did not reload: RuntimeError: no such thing; the next look tries again" in reload_location(SHARED)


def test_a_code_server_that_does_not_answer_is_tried_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assets.reload.load_error", lambda: "")
    assert "tries again" in reload_location(SHARED)
