"""Which partitions `python -m assets run` runs, in how many runs."""

from __future__ import annotations

import os
import signal

import pytest

from assets.run import Request, Runner
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from tests.assets.support import Bench, failing
from tests.assets.test_gate import touch


def run(bench: Bench, request: Request | None = None) -> Runner:
    bench.cluster.calls.clear()
    runner = Runner(bench.instance, bench.study, bench.cluster)  # type: ignore[arg-type]
    runner.run(request or Request())
    return runner


def runs(bench: Bench) -> int:
    return len(bench.instance.get_runs())


def test_the_first_time_everything_runs_in_one_run_per_step(bench: Bench):
    assert run(bench).failures == []
    assert runs(bench) == 6
    assert len(bench.cluster.calls) == 2 + 20 + 14 + 14


def test_the_second_time_nothing_does(bench: Bench, capsys: pytest.CaptureFixture[str]):
    run(bench)
    capsys.readouterr()
    run(bench)
    assert (runs(bench), bench.cluster.calls) == (6, [])
    assert capsys.readouterr().out.count("up to date") == 6


def test_after_a_change_of_one_episode_its_plans_alone_are_run(bench: Bench):
    run(bench)
    touch(bench, "val_0002__0")
    bench.reload()
    run(bench)
    assert {key.split(".")[0] for _, key in bench.cluster.calls} == {"val_0002__0"}
    assert bench.stale("stage_c") == bench.stale("report") == set()


def test_results_that_dagster_does_not_know_yet_are_logged_and_not_run_again(bench: Bench):
    run(bench)
    calls = len(bench.cluster.calls)
    for name in ("g0_spike", "stage_b", "stage_c"):
        bench.instance.wipe_assets([bench.scope.key(name)])
    run(bench)
    assert calls > 0 and bench.cluster.calls == []
    assert bench.status("stage_c") == (set(bench.partitions("stage_c")), set())


def test_a_pattern_limits_every_gate_to_these_plans_and_their_episodes(bench: Bench):
    run(bench, Request(("g0_spike", "stage_b")))
    for name in ("stage_b", "g0_spike"):
        bench.instance.wipe_assets([bench.scope.key(name)])
    run(bench, Request(("g0_spike", "stage_b", "stage_c", "report"), plans="val_0002__0.q00*"))
    plans = {key for key in bench.partitions("stage_b") if key.startswith("val_0002__0.q00")}
    assert bench.status("g0_spike") == bench.status("report") == ({"val_0002__0"}, set())
    assert bench.status("stage_b") == bench.status("stage_c") == (plans, set())


def test_scattered_plans_never_drag_along_what_was_not_asked_for(bench: Bench):
    run(bench, Request(("g0_spike",)))
    run(bench, Request(("stage_b",), plans="*.q00.*"))
    assert set(bench.cluster.keys("stage_b")) == {key for key in bench.partitions("stage_b") if ".q00." in key}
    assert bench.status("stage_b")[0] == set(bench.cluster.keys("stage_b"))


def test_an_invalid_plan_does_not_stop_the_gates_for_the_others_and_is_tried_again(bench: Bench):
    bad = bench.partitions("stage_b")[0]
    slow = Result(Outcome.INVALID, Reason.TIMED_OUT, "no result within 600 s")
    bench.cluster.judge = failing(bad, gate="stage_b", why=slow)
    runner = run(bench)
    assert runner.failures == [
        f"stage_b: 1 of 20 partitions have no result (1 invalid.timed_out)\ntimed_out, for one {bad}: {slow.message}"
    ]
    assert len(bench.cluster.keys("stage_c")) == 14
    run(bench)
    assert bench.cluster.calls == [("stage_b", bad)]


def test_a_partition_that_shows_failed_although_it_has_a_result_is_logged_again(bench: Bench):
    run(bench)
    everything = bench.cluster.judge
    touch(bench, "val_0001__0")
    bench.reload()
    run(bench, Request(("g0_spike",)))

    def broken(gate: str, key: str) -> Result | None:
        raise OSError("no space left on device")

    bench.cluster.judge = broken
    run(bench, Request(("stage_b",)))
    assert bench.status("stage_b")[1] != set()
    bench.cluster.judge = everything
    run(bench, Request(("stage_b",)))
    assert bench.status("stage_b") == (set(bench.partitions("stage_b")), set())


def test_an_interrupt_ends_the_whole_run_and_the_next_goes_on_from_there(bench: Bench):
    plans = bench.partitions("stage_b")
    everything = bench.cluster.judge

    def interrupted(gate: str, key: str) -> Result | None:
        if key == plans[4]:
            os.kill(os.getpid(), signal.SIGINT)
        return everything(gate, key)

    bench.cluster.judge = interrupted
    with pytest.raises(KeyboardInterrupt):
        run(bench)
    assert bench.cluster.keys("stage_c") == []
    bench.cluster.judge = everything
    assert run(bench).failures == []
    assert plans[0] not in bench.cluster.keys("stage_b")
    assert bench.status("stage_b") == (set(plans), set())


def test_stage_c_stops_and_goes_on_with_a_reason(bench: Bench):
    bench.cluster.judge = failing(*bench.partitions("stage_b"), gate="stage_b", why=Result(Outcome.FAILURE))
    runner = run(bench, Request(("stage_c",)))
    assert "stage_c: 14 of 14 partitions have no result" in runner.failures[0]
    assert "G1 stops Stage C" in runner.failures[0]
    reasons = {"override_g1": "trial", "override_g2": "trial"}
    assert run(bench, Request(("stage_c",), overrides=reasons)).failures == []
