"""`reward_bench` and `reward_training`: there where study.toml asks for them, and each model for itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from assets.definitions import build_definitions
from assets.jobs import nightly_rescore, retry_failed
from assets.run import BENCH, STEPS
from resources.cluster import ClusterResource, LocalConfig
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.rewards.bench.gate import REWARD_BENCH
from sbench_dag.rewards.models.registry import reward_model
from sbench_dag.rewards.small.gate import REWARD_TRAINING, settings_of, training_item
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.study import create_study, load_study
from sbench_dag.synthetic.from_scene import dataset_from_scene
from sbench_dag.work.item import Result
from tests.assets.support import Bench, Pretended, everything_works, failing, failure_of, metadata
from tests.assets.test_jobs import execute, runs_of
from tests.blocks import write_scene
from tests.rewards.bench_data import write_bench
from tests.rewards.test_panel import asked, set_tables
from tests.running import run_here

TRAINING = REWARD_TRAINING.name
NO_VIDEO = Result(Outcome.INVALID, Reason.NO_SCORE, "first gave no score of 1 of 8 videos (1 x no video)")
TINY = {"epochs": 1, "size": 16, "width": 8, "seed": 3}


@pytest.fixture
def scoring(bench: Bench, home: Path) -> Bench:
    """A study of two reward models and a benchmark of eight videos."""
    write_bench(home / "bench")
    set_tables(home, first={}, second={})
    set_rewards(bench, models=["first", "second"], bench="../../bench")
    return bench


@pytest.fixture
def cluster(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    """Of jobs too, which take theirs from Dagster's resources."""
    monkeypatch.setattr(ClusterResource, "run", lambda self, *args, **how: bench.cluster.run(*args, **how))
    return bench.cluster


def set_rewards(bench: Bench, /, **settings: object) -> None:
    file = bench.study.folder / "study.toml"
    kept = file.read_text().partition("[rewards]")[0]
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    file.write_text(f"{kept}[rewards]\n{lines}")
    bench.reload()


def partitions_shown(bench: Bench) -> tuple[set[str], set[str]]:
    """The models that the UI shows as materialised, and as failed."""
    definition = dg.StaticPartitionsDefinition(bench.partitions(BENCH))
    found = get_and_update_asset_status_cache_value(bench.instance, bench.scope.key(BENCH), definition)
    assert found is not None
    good = set(found.deserialize_materialized_partition_subsets(definition).get_partition_keys())
    bad = set(found.deserialize_failed_partition_subsets(definition).get_partition_keys())
    return good - bad, bad


def wanted(bench: Bench) -> dict[str, str]:
    return Fingerprints(load_study(bench.study.folder)).wanted(REWARD_BENCH)


def names(bench: Bench) -> set[str]:
    return {key.path[-1] for key in bench.defs.resolve_asset_graph().get_all_asset_keys()}


def test_without_a_benchmark_and_without_training_there_are_no_such_assets(bench: Bench):
    assert not names(bench) & {BENCH, TRAINING}
    set_rewards(bench, models=[], bench="../../bench")
    assert BENCH not in names(bench), "without models nobody would score it"


def test_the_code_location_has_both_in_the_group_of_rewards_and_no_two_share_a_run(scoring: Bench):
    set_rewards(scoring, models=["first", "second"], bench="../../bench", training=True)
    defs = build_definitions()
    dg.Definitions.validate_loadable(defs)
    graph = defs.resolve_asset_graph()
    found = [graph.get(scoring.scope.key(name)) for name in (BENCH, TRAINING, "rollout_rewards")]
    assert {node.group_name for node in found} == {"by_hand__4_reward"}
    assert all(node.description and node.metadata["revision"] for node in found)
    policies = [node.backfill_policy for node in graph.asset_nodes if node.is_partitioned and node.backfill_policy]
    assert len(set(policies)) == len(policies) == 6
    assert scoring.partitions(BENCH) == ["first", "second"]
    assert graph.get(scoring.scope.key(BENCH)).backfill_policy == dg.BackfillPolicy.multi_run(1)


def test_sensors_never_ask_for_either():
    assert not {BENCH, TRAINING} & set(STEPS)


def test_workers_score_the_benchmark_and_the_page_says_how_far_off_a_model_is(scoring: Bench, home: Path):
    a_plans = LocalConfig(workers=1, timeout_s=0.05)  # a benchmark may take far longer than a plan
    scoring.cluster = ClusterResource(local=a_plans)  # pyright: ignore[reportAttributeAccessIssue]
    scoring.reload()
    scoring.must(BENCH, keys=["first"])
    [event] = scoring.events(BENCH).values()
    shown = metadata(event)
    assert (shown["n"], shown["clusters"], shown["missing"], shown["unparseable"]) == (8, 5, 0, 0)
    assert shown["MAE"] == pytest.approx(1.4167, abs=1e-4) and str(shown["MAE, 95 %"]).startswith("[")
    assert "| **first** | 1.417 | [" in str(shown["leaderboard"]) and "| always 3 | " in str(shown["leaderboard"])
    assert len(Path(str(shown["file"])).read_text().splitlines()) == 8
    assert event.tags[DATA_VERSION_TAG] == wanted(scoring)["first"]
    assert partitions_shown(scoring) == ({"first"}, set())
    scoring.must(BENCH)
    assert metadata(scoring.events(BENCH)["first"])["cached"] is True
    assert len(asked(home, "first")) == len(asked(home, "second")) == 8


def test_a_model_without_some_scores_fails_its_partition_alone(scoring: Bench):
    scoring.cluster.judge = failing("first", gate=BENCH, why=NO_VIDEO)
    result = scoring.run(BENCH)
    assert "no_score, for one first: first gave no score of 1 of 8 videos (1 x no video)" in failure_of(result)
    assert partitions_shown(scoring) == ({"second"}, {"first"})


def test_a_benchmark_that_is_not_there_is_named(scoring: Bench, home: Path):
    shutil.rmtree(home / "bench")
    assert "no benchmark there; looked for test/metadata.jsonl" in failure_of(scoring.run(BENCH, keys=["first"]))


def test_a_model_that_study_toml_no_longer_names_says_so(scoring: Bench):
    file = scoring.study.folder / "study.toml"
    file.write_text(file.read_text().replace('["first", "second"]', '["second"]'))
    assert "study.toml no longer names this model" in failure_of(scoring.run(BENCH))
    assert partitions_shown(scoring) == ({"second"}, {"first"})


def test_the_night_scores_what_has_no_line_of_today_in_a_run_for_each_model(
    scoring: Bench,
    home: Path,
    cluster: Pretended,
):
    result = execute(scoring, nightly_rescore([scoring.scope]))
    assert result.success
    assert runs_of(scoring, result.run_id).count(BENCH) == 2
    assert cluster.keys(BENCH) == ["first", "second"]
    set_tables(home, first={}, second={"taste": "sharp"})
    cluster.calls.clear()
    result = execute(scoring, nightly_rescore([scoring.scope]))
    assert cluster.keys(BENCH) == ["second"] and runs_of(scoring, result.run_id).count(BENCH) == 1
    assert scoring.events(BENCH)["second"].tags[DATA_VERSION_TAG] == wanted(scoring)["second"]


def test_the_night_goes_on_when_the_benchmark_is_gone(scoring: Bench, home: Path, cluster: Pretended):
    shutil.rmtree(home / "bench")
    result = execute(scoring, nightly_rescore([scoring.scope]))
    assert "by-hand: reward_bench: " in failure_of(result) and "no benchmark there" in failure_of(result)
    assert runs_of(scoring, result.run_id)[-1] == "summary"


def test_retry_failed_takes_the_model_that_failed(scoring: Bench, cluster: Pretended):
    scoring.cluster.judge = failing("first", gate=BENCH, why=NO_VIDEO)
    scoring.run(BENCH, keys=["first"])
    scoring.cluster.judge = everything_works
    cluster.calls.clear()
    assert execute(scoring, retry_failed([scoring.scope])).success
    assert cluster.keys(BENCH) == ["first"], "and not the one that nobody has asked yet"
    assert partitions_shown(scoring) == ({"first"}, set())


def test_training_is_told_what_was_chosen_and_each_launch_trains_anew(bench: Bench):
    set_rewards(bench, training=True)
    told = {
        "folder": "rewards/small", "revision": "5" * 16, "epoch": 1, "val_mae": 1.0, "test_mae": 0.75,
        "constant": 3, "constant_mae": 1.25, "clip_length_mae": 1.5, "videos": [{"split": "test", "full": 2, "all": 2}],
    }  # fmt: skip
    bench.cluster.judge = lambda gate, key: Result(Outcome.SUCCESS, row=told)
    for _ in range(2):
        bench.must(TRAINING, keys=[], config=TINY)
    first, second = bench.cluster.keys(TRAINING)
    assert first != second
    assert settings_of(first) == settings_of(second) == Settings(**TINY)
    event = bench.instance.get_latest_materialization_event(bench.scope.key(TRAINING))
    assert event and event.asset_materialization
    shown = metadata(event.asset_materialization)
    assert (shown["test MAE"], shown["test MAE, always 3"], shown["test MAE, clip length alone"]) == (0.75, 1.25, 1.5)
    assert 'weights = "studies/by-hand/rewards/small"' in str(shown["to use it"])
    assert (event.asset_materialization.tags or {})[DATA_VERSION_TAG] == "5" * 16


def test_a_training_that_can_not_be_says_why(bench: Bench):
    set_rewards(bench, training=True)
    result = bench.run(TRAINING, keys=[], config={"size": 50})
    assert failure_of(result) == "config.size = 50: must be a multiple of 16"
    bench.cluster.judge = lambda gate, key: Result(Outcome.NOT_RUN, Reason.UPSTREAM_MISSING, "no rollouts with videos")
    assert failure_of(bench.run(TRAINING, keys=[])) == "not_run.upstream_missing: no rollouts with videos"
    bench.cluster.judge = lambda gate, key: None
    assert failure_of(bench.run(TRAINING, keys=[])) == "the cluster said nothing about the training"


def test_an_item_says_what_its_training_is_asked_for():
    item = training_item(Settings(epochs=7, seed=2), "run-1")
    assert item.key == "epochs=7,size=96,width=16,seed=2,launch=run-1"
    assert settings_of(item.key) == Settings(epochs=7, seed=2)
    assert item.timeout_s > 3600


def test_a_worker_trains_on_real_rollouts_and_what_it_trained_scores(home: Path):
    dataset = home / "datasets" / "five"
    for blocks in range(1, 6):  # five houses: train, val and test
        dataset_from_scene(write_scene(home / "scenes" / str(blocks), blocks), dataset, f"scene{blocks}")
    shutil.rmtree(dataset / "answers")
    tables = {"video": {"width": 64, "height": 64}, "rewards": {"training": True}}
    study = create_study("five", dataset, tables)
    run_here(study, "g0_spike", "stage_b", "stage_c")
    with dg.DagsterInstance.ephemeral() as instance:
        bench = Bench(study, instance)
        bench.cluster = ClusterResource(local=LocalConfig(workers=1))  # pyright: ignore[reportAttributeAccessIssue]
        bench.reload()
        bench.must(TRAINING, keys=[], config=TINY)
        event = instance.get_latest_materialization_event(bench.scope.key(TRAINING))
    assert event and event.asset_materialization
    shown = metadata(event.asset_materialization)
    (home / "reward_models.toml").write_text(str(shown["to use it"]).partition("```toml\n")[2].partition("```")[0])
    model = reward_model("small-five", home)
    assert model.identity["revision"] == shown["revision"]
    records = shown["videos"].records  # pyright: ignore[reportAttributeAccessIssue]
    assert [record.data["split"] for record in records] == ["train", "val", "test"]
    assert all(record.data["clip"] and record.data["full"] for record in records)
    assert (study.folder / "rewards" / "dataset" / "test" / "metadata.jsonl").exists()
