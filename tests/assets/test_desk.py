"""What an operator reads on a gate's page: numbers over time, limits, the last failures, and what a run was of."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from assets import tags
from assets.of_study import study_assets
from assets.scope import Scope
from assets.stage_c import StageCConfig
from resources.cluster import ClusterResource, LocalConfig, SlurmConfig
from sbench_dag.commit import code_commit
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import create_study
from sbench_dag.work.item import Result
from tests.assets.support import Bench, everything_works, failing, metadata
from tests.by_hand import write_dataset

TOO_FAR = Result(Outcome.FAILURE, Reason.TOO_FAR, "nearest 3.1 m away", timings={"total_s": 2.0})
CRASHED = Result(Outcome.INVALID, Reason.WORKER_CRASHED, "killed its worker 2 times")


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {check.check_name: check for check in result.get_asset_check_evaluations()}


def numbers_of(result: dg.ExecuteInProcessResult, check: str = "complete") -> dict[str, object]:
    return {name: value.value for name, value in checks_of(result)[check].metadata.items()}


def rows(result: dg.ExecuteInProcessResult, kind: str) -> list[dict]:
    value = checks_of(result)["last_failures"].metadata[kind]
    assert isinstance(value, dg.TableMetadataValue)
    return [dict(record.data) for record in value.records]


def test_a_run_over_some_plans_shows_the_study_beside_itself(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.run("stage_b", keys=plans[:5])

    def judge(gate: str, key: str) -> Result:
        return {plans[5]: CRASHED, plans[6]: TOO_FAR}.get(key, everything_works(gate, key))

    bench.cluster.judge = judge
    found = numbers_of(bench.run("stage_b", keys=plans[4:8]))
    study = {"plans": 20, "done": 7, "invalid": 1, "not run": 12, "reached": "6 of 7 plans that were tried"}
    mine = {"plans": 4, "done": 3, "invalid": 1, "not run": 0, "reached": "2 of 3 plans that were tried"}
    for whose, wanted in (("study", study), ("this run", mine)):
        assert {name: found[f"{whose}: {name}"] for name in wanted} == wanted
    assert found["study: reached, rate"] == pytest.approx(6 / 7, abs=1e-4)
    assert (found["this run: seconds per plan"], found["this run: plans timed"]) == (2.0, 1)


def test_what_the_cluster_lost_is_not_run_although_an_earlier_run_found_it_invalid(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = failing(plans[0], gate="stage_b")
    bench.run("stage_b", keys=plans[:2])
    bench.cluster.judge = lambda gate, key: None
    found = numbers_of(bench.run("stage_b", keys=plans[:2]))
    assert (found["this run: done"], found["this run: invalid"], found["this run: not run"]) == (1, 0, 1)
    assert found["study: invalid"] == 1


def test_a_rollout_shows_its_label_and_what_each_reward_model_says(bench: Bench):
    scores = {"small": {"value": 4, "status": "scored"}, "gpt": {"value": None, "status": "unparseable"}}
    labelled = Result(Outcome.SUCCESS, row={"label": 5, "video": None, "scores": scores})
    for name in ("g0_spike", "stage_b", "stage_c"):
        bench.must(name)
    bench.cluster.judge = lambda gate, key: labelled
    bench.must("rollout_rewards")
    shown = metadata(bench.events("rollout_rewards")[bench.partitions("rollout_rewards")[0]])
    assert (shown["label"], shown["score of small"], shown["score of gpt"]) == (5, 4, "unparseable")


def test_g0_shows_its_pass_rate(bench: Bench):
    bench.cluster.judge = failing("val_0002__0", gate="g0_spike", why=Result(Outcome.INVALID, Reason.G0_FAILED))
    result = bench.run("g0_spike")
    assert numbers_of(result)["study: G0 passed, rate"] == 0.5
    assert numbers_of(result, "gate_pass_rate") == {"state": "failed", "value": 0.5, "limit": 0.95, "n": 2}
    assert checks_of(result)["gate_pass_rate"].severity is dg.AssetCheckSeverity.ERROR


def test_stage_c_counts_what_it_lifted_of_what_it_tried(bench: Bench):
    for name in ("g0_spike", "stage_b"):
        bench.run(name)
    picks = bench.partitions("stage_c")
    nothing_there = Result(Outcome.NOT_APPLICABLE, Reason.NOT_REACHED)
    other = [key for key in picks if not next(p for p in bench.study.manifest.plans if p.key == key).is_oracle]
    bench.cluster.judge = failing(other[0], gate="stage_c", why=nothing_there)
    found = numbers_of(bench.run("stage_c"))
    assert (found["study: done"], found["study: lifted"]) == (14, "13 of 13 picks that were tried")


def test_limits_that_can_not_be_decided_warn(bench: Bench):
    bench.run("g0_spike")
    found = checks_of(bench.run("stage_b", keys=bench.partitions("stage_b")[:1]))
    for name in ("floor_blind_reached", "g1_oracle_reached"):
        assert (found[name].passed, found[name].severity) == (False, dg.AssetCheckSeverity.WARN), name
        assert "not run yet" in (found[name].description or "")


def test_the_last_failures_of_both_kinds_stand_apart(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = lambda gate, key: {plans[1]: CRASHED, plans[2]: TOO_FAR}.get(key, everything_works(gate, key))
    result = bench.run("stage_b")
    [harness], [robot] = rows(result, "harness failed"), rows(result, "robot failed")
    assert (harness["partition"], harness["reason"]) == (plans[1], "worker_crashed")
    assert (robot["partition"], robot["reason"], robot["message"]) == (plans[2], "too_far", "nearest 3.1 m away")
    assert not checks_of(result)["last_failures"].passed
    assert plans[2] in str(numbers_of(result, "last_failures")["robot failed, newest: partition"])


def test_failures_of_the_robot_alone_pass_and_only_the_newest_are_shown(bench: Bench):
    plans = bench.partitions("stage_b")
    bench.run("g0_spike")
    bench.cluster.judge = failing(*plans, gate="stage_b", why=TOO_FAR)
    result = bench.run("stage_b")
    assert checks_of(result)["last_failures"].passed
    assert [row["partition"] for row in rows(result, "robot failed")] == plans[:-11:-1]


def test_a_failed_pick_names_its_video(bench: Bench):
    for name in ("g0_spike", "stage_b"):
        bench.run(name)
    row = {"video": {"file": "videos/x.mp4", "sha256": ""}}
    dropped = Result(Outcome.FAILURE, Reason.NOT_LIFTED, row=row)
    other = [p.key for p in bench.study.manifest.plans if not p.is_oracle and p.scoring == "lifted"]
    bench.cluster.judge = failing(other[0], gate="rollout_rewards", why=dropped)
    bench.run("stage_c")
    result = bench.run("rollout_rewards")
    assert rows(result, "robot failed")[0]["video"] == "videos/x.mp4"
    newest = checks_of(result)["last_failures"].metadata["robot failed, newest: video"]
    assert newest == dg.MetadataValue.path(str(bench.study.folder / "videos" / "x.mp4"))


def test_every_run_is_tagged_with_what_it_ran_on(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tags, "code_commit", lambda: "abc1234-dirty")
    wanted = {
        "sbench/study": "by-hand",
        "sbench/profile": "test",
        "sbench/revision": "by-hand-1",
        "sbench/commit": "abc1234-dirty",
    }
    bench.run_all()
    runs = bench.instance.get_runs()
    assert len(runs) == 6
    for run in runs:
        assert wanted.items() <= run.tags.items()


def test_without_git_a_run_has_no_commit(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(tags, "code_commit", code_commit.__wrapped__)
    bench.must("g0_spike")
    [run] = bench.instance.get_runs()
    assert "sbench/commit" not in run.tags


def test_the_groups_of_several_studies_stand_in_the_order_of_the_pipeline(bench: Bench, home: Path):
    write_dataset(home / "d")
    names = ("by-hand", "by-hand_3", "by-hand3")
    assets = [asset for name in names for asset in study_assets(Scope(create_study(name, home / "d")))]
    specs = dg.Definitions(assets=assets, resources={"cluster": bench.cluster}).resolve_all_asset_specs()
    order = {spec.group_name: None for spec in sorted(specs, key=lambda spec: spec.group_name or "")}
    steps = ["0_inputs", "1_restore", "2_reach", "3_lift", "4_reward", "5_report"]
    found = [str(group).rsplit("__", 1) for group in order]
    assert [step for _, step in found] == 3 * steps
    assert [study for study, _ in found[::6]] == sorted({study for study, _ in found}, key=[s for s, _ in found].index)


def test_nothing_has_to_be_typed_to_launch_an_asset(bench: Bench):
    dg.validate_run_config(bench.job, {})


@pytest.mark.parametrize("settings", [StageCConfig, ClusterResource, LocalConfig, SlurmConfig])
def test_every_setting_in_the_launchpad_says_what_it_is(settings):
    assert [name for name, field in settings.model_fields.items() if not field.description] == []
