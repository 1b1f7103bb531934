"""What a run over many partitions leaves behind in Dagster."""

from __future__ import annotations

import pytest

from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.work.item import Result
from tests.assets.support import Bench, failing, failure_of, metadata, touch, without


def test_every_plan_is_materialised_with_its_fingerprint_and_what_an_owner_wants_to_know(bench: Bench):
    bench.must("g0_spike")
    bench.must("stage_b")
    events = bench.events("stage_b")
    wanted = Fingerprints(bench.study).wanted(find_gate("stage_b"))
    assert {key: event.tags["dagster/data_version"] for key, event in events.items()} == wanted
    shown = metadata(events["val_0001__0.q00.kitchen-table.a5b1c7"])
    assert shown["question"] == "Pick up the mug I moved"
    assert shown["answer"] == "mug: table, kitchen"
    assert shown["given by"] == "last-seen/vlm, oracle-loc"
    assert (shown["outcome"], shown["cached"]) == ("success", False)


def test_exactly_the_plan_whose_worker_crashes_is_failed_and_its_siblings_are_fine(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = failing(plans[3], gate="stage_b")
    result = bench.run("stage_b")
    assert not result.success
    assert bench.status("stage_b") == (without(plans, plans[3]), {plans[3]})
    assert failure_of(result).startswith("1 of 20 partitions have no result (1 invalid.worker_crashed)")


def test_a_robot_that_fails_is_a_result(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    too_far = Result(Outcome.FAILURE, Reason.TOO_FAR, "nearest ground-truth body 3.10 m away")
    bench.cluster.judge = failing(plans[0], gate="stage_b", why=too_far)
    bench.must("stage_b")
    assert bench.status("stage_b") == (set(plans), set())
    assert metadata(bench.events("stage_b")[plans[0]])["reason"] == "too_far"


def test_a_second_run_executes_nothing_and_logs_every_result_again(bench: Bench):
    bench.run("g0_spike")
    bench.run("stage_b")
    bench.cluster.calls.clear()
    bench.must("stage_b")
    assert bench.cluster.calls == []
    assert all(metadata(event)["cached"] is True for event in bench.events("stage_b").values())


def test_a_retry_of_everything_executes_only_what_failed(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = failing(plans[3], plans[9], gate="stage_b")
    bench.run("stage_b")
    bench.cluster.judge, bench.cluster.calls = failing(plans[9], gate="stage_b"), []
    bench.run("stage_b")
    assert bench.cluster.keys("stage_b") == [plans[3], plans[9]]
    assert bench.status("stage_b") == (without(plans, plans[9]), {plans[9]})


def test_a_good_partition_whose_input_is_damaged_later_shows_failed(bench: Bench):
    bench.run("g0_spike")
    assert bench.status("g0_spike") == ({"val_0001__0", "val_0002__0"}, set())
    touch(bench, "val_0002__0")
    bench.cluster.judge = failing("val_0002__0", gate="g0_spike")
    bench.run("g0_spike")
    assert bench.status("g0_spike") == ({"val_0001__0"}, {"val_0002__0"})


def test_every_requested_partition_ends_materialised_or_failed_even_if_the_cluster_loses_some(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    everything = bench.cluster.judge
    bench.cluster.judge = lambda gate, key: None if key == plans[5] else everything(gate, key)
    result = bench.run("stage_b", keys=plans[2:9])
    good, bad = bench.status("stage_b")
    assert (good | bad, bad) == (set(plans[2:9]), {plans[5]})
    assert "the cluster said nothing about it" in failure_of(result)


def test_when_the_cluster_breaks_what_was_done_stays_and_the_rest_is_failed(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    everything = bench.cluster.judge

    def broken(gate: str, key: str) -> Result | None:
        if key == plans[7]:
            raise OSError("no space left on device")
        return everything(gate, key)

    bench.cluster.judge = broken
    assert not bench.run("stage_b").success
    assert bench.status("stage_b") == (set(plans[:7]), set(plans[7:]))


def test_a_plan_whose_episode_has_not_run_is_failed_and_says_what_to_run(bench: Bench):
    plans = bench.partitions("stage_b")
    missing = Result(Outcome.NOT_RUN, Reason.UPSTREAM_MISSING, "g0_spike has no current result; run g0_spike first")
    bench.cluster.judge = failing(*plans[:2], gate="stage_b", why=missing)
    result = bench.run("stage_b")
    assert bench.status("stage_b") == (set(plans[2:]), set(plans[:2]))
    assert "run g0_spike first" in failure_of(result)


@pytest.mark.parametrize("name", ["g0_spike", "report"])
def test_a_partition_that_the_manifest_no_longer_names_is_failed_and_says_reload(bench: Bench, name: str):
    episodes = bench.partitions(name)
    folder = bench.study.dataset_path / "episodes"
    (folder / "val_0002__0").rename(folder.parent / "gone")
    bench.study.refresh_manifest()
    result = bench.run(name)
    assert bench.status(name) == ({episodes[0]}, {episodes[1]})
    assert "reload the code location" in failure_of(result)


def test_a_run_of_one_partition_takes_several_gates_along(bench: Bench):
    for name in ("g0_spike", "stage_b"):
        bench.run(name)
    pick = bench.partitions("stage_c")[0]
    result = bench.run("stage_c", "rollout_rewards", keys=[pick])
    assert result.success
    assert bench.status("stage_c")[0] == bench.status("rollout_rewards")[0] == {pick}


def test_partitions_that_were_run_one_by_one_are_fresh_too(bench: Bench):
    for name in ("g0_spike", "stage_b"):
        for key in bench.partitions(name):
            bench.must(name, keys=[key])
    assert bench.stale("g0_spike") == bench.stale("stage_b") == set()
    touch(bench, "val_0001__0")
    bench.must("g0_spike", keys=["val_0001__0"])
    assert bench.stale("stage_b") == {p for p in bench.partitions("stage_b") if p.startswith("val_0001__0.")}


def test_a_run_of_several_gates_over_many_partitions_is_refused_rather_than_skipped_in_silence(bench: Bench):
    for name in ("g0_spike", "stage_b"):
        bench.run(name)
    result = bench.run("stage_c", "rollout_rewards")
    assert not result.success
    assert "Launch them as a backfill" in failure_of(result)


def test_a_study_that_became_unreadable_fails_the_run_with_its_error_alone(bench: Bench):
    (bench.study.folder / "study.toml").write_text("[datasets]\n")
    result = bench.run("g0_spike")
    assert "no such table" in failure_of(result)


@pytest.mark.parametrize("name", ["stage_b", "stage_c", "rollout_rewards", "report"])
def test_after_a_run_dagster_calls_nothing_stale(bench: Bench, name: str):
    bench.run_all()
    assert bench.stale(name) == set()


def test_exactly_the_plans_of_an_episode_that_changed_are_stale(bench: Bench):
    bench.run_all()
    touch(bench, "val_0001__0")
    bench.run("g0_spike")
    assert bench.stale("stage_b") == {p for p in bench.partitions("stage_b") if p.startswith("val_0001__0.")}
    assert bench.stale("report") == {"val_0001__0"}
    bench.run("stage_b")
    assert bench.stale("stage_b") == set()
    assert bench.stale("stage_c") == {p for p in bench.partitions("stage_c") if p.startswith("val_0001__0.")}


def test_checks_say_how_many_are_complete(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = failing(plans[3], gate="stage_b")
    result = bench.run("stage_b")
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    assert not checks["complete"].passed
    counts = {name: value.value for name, value in checks["complete"].metadata.items()}
    wanted = {"requested": 20, "ran": 19, "cached": 0, "without result": 1, "invalid.worker_crashed": 1}
    assert {name: counts[name] for name in wanted} == wanted
    assert checks["g1_oracle_reached"].passed
