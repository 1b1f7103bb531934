"""`python -m assets run` on a study of two small scenes: with real workers, into an instance on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from assets.__main__ import main
from assets.instance import CHECKOUT
from sbench_dag.work.store import Store
from tests.assets.scenes import two_scenes
from tests.assets.support import Bench
from tests.running import rows_of

COUNT = 3
DAMAGED = "b__0"


@pytest.fixture
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    monkeypatch.chdir(CHECKOUT)
    return dict(os.environ)


@pytest.fixture
def instance(environment: dict[str, str], home: Path) -> Iterator[dg.DagsterInstance]:
    (home / "dagster").mkdir(parents=True)
    with dg.DagsterInstance.get() as found:
        yield found


def calls(home: Path) -> list[str]:
    """What the policy was asked to do since the last time."""
    file = home / "calls"
    found = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return sorted(found)


def test_a_study_is_run_mended_and_damaged(home: Path, instance: dg.DagsterInstance, capfd: pytest.CaptureFixture[str]):
    study = two_scenes(home)
    (home / "crash").write_text("b__0/block_1\n")
    before = {path.name for path in CHECKOUT.iterdir()}

    assert main(["run", "--workers", "2"]) == 1, "one plan kills its workers"
    out, err = capfd.readouterr()
    bench = Bench(study, instance)
    picks = bench.partitions("stage_c")
    [bad] = [key for key in picks if key.startswith("b__0.q01")]
    for gate in ("stage_c", "rollout_rewards"):
        assert bench.status(gate) == (set(picks) - {bad}, {bad}), gate
    assert bench.status("stage_b") == (set(picks), set())
    assert "stage_c: 1 of 6 partitions have no result (1 invalid.worker_crashed)" in err
    assert "oracle-loc" in out and str(study.reports / "index.html") in out
    assert "DEBUG" not in out + err and "BetaWarning" not in out + err
    assert len(calls(home)) == 2 * COUNT + 1, "the one that crashes had a second chance"
    assert not (home / "dagster_seen").exists(), "only the orchestrator writes events: no worker knows of Dagster"

    (home / "crash").unlink()
    assert main(["run"]) == 0
    assert calls(home) == ["b__0/block_1"], "nothing but what had failed"
    assert bench.status("stage_c") == bench.status("rollout_rewards") == (set(picks), set())

    capfd.readouterr()
    started = time.perf_counter()
    assert main(["run"]) == 0
    out, _ = capfd.readouterr()
    assert time.perf_counter() - started < 10
    assert out.count("up to date") == 6 and calls(home) == []

    (study.dataset_path / "episodes" / DAMAGED / "final_state.npz").write_bytes(b"PK broken")
    assert main(["run"]) == 1
    _, err = capfd.readouterr()
    of_damaged = {key for key in picks if key.startswith(f"{DAMAGED}.")}
    for gate in ("stage_b", "stage_c", "rollout_rewards"):
        assert bench.status(gate) == (set(picks) - of_damaged, of_damaged), gate
    assert "final_state.npz" in err and calls(home) == []
    assert {path.name for path in CHECKOUT.iterdir()} - before == set()


def test_killed_at_any_moment_the_next_run_goes_on_from_there(
    home: Path, environment: dict[str, str], instance: dg.DagsterInstance
):
    study = two_scenes(home, delay_s=0.4)
    run = subprocess.Popen([sys.executable, "-m", "assets", "run"], cwd=CHECKOUT, env=environment)
    store = Store(study.results)
    while not list(store.lines("stage_c")) and run.poll() is None:
        time.sleep(0.1)
    run.send_signal(signal.SIGKILL)
    run.wait()
    time.sleep(1.0)  # its workers notice and end
    done = {line.key for line in store.lines("stage_c")}
    assert 0 < len(done) < 2 * COUNT

    assert main(["run", "--workers", "1"]) == 0
    bench = Bench(study, instance)
    for gate in ("stage_b", "stage_c", "rollout_rewards"):
        assert bench.status(gate) == (set(bench.partitions(gate)), set()), gate
    unfinished = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING])
    assert instance.get_runs(unfinished) == [], "the killed run is not in progress for ever"
    keys = [line.key for line in store.lines("stage_c") if line.outcome.is_result]
    assert len(keys) == len(set(keys)), "nothing was done twice"
    assert set(rows_of(study, "stage_c")) == set(bench.partitions("stage_c"))


def test_without_a_study_it_says_how_to_make_one(environment: dict[str, str], capsys: pytest.CaptureFixture[str]):
    assert main(["run"]) == 2
    assert "make demo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--study", "nope"], "no study 'nope'"),
        (["--profile", "reference"], "studies of profile 'reference': none"),
        (["--plans", "val_9*"], "no plan of by-hand matches 'val_9*'"),
    ],
)
def test_what_it_can_not_do_it_says_in_one_line(
    bench: Bench, environment: dict[str, str], capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
):
    assert main(["run", *arguments]) == 2
    _, err = capsys.readouterr()
    assert text in err and err.count("\n") == 1
