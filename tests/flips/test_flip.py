"""`sbench flip`: a deterministic policy never says anything else the second time, and one that does is found out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sbench_dag.cli import main
from sbench_dag.flips.latest import RESULT, latest_flip
from sbench_dag.flips.sample import draw
from sbench_dag.reports.grid import Results
from sbench_dag.study import Study, load_study
from sbench_dag.work.store import Store
from tests.blocks import answer_wrongly, blocks_study
from tests.running import run_here
from tests.slurm import until

MAIN = "import sys; from sbench_dag.cli import main; main(sys.argv[1:])"


def study_with(home: Path, policy: str, options: dict | None = None, count: int = 3) -> Study:
    """That many blocks, each to be picked once."""
    settings = {"policy": {"name": policy, "options": options or {}, "attempts": 1}}
    study = blocks_study(home, count, settings=settings)
    run_here(study, "g0_spike", "stage_b", "stage_c")
    return study


def flip(capsys: pytest.CaptureFixture[str], *argv: str) -> dict:
    assert main(["flip", "--json", "--workers", "1", *argv]) == 0
    return json.loads(capsys.readouterr().out)


def rates(found: dict) -> dict[str, tuple[int, int]]:
    return {verdict["verdict"]: (verdict["flips"], verdict["n"]) for verdict in found["verdicts"]}


def stored(study: Study) -> dict[str, bytes]:
    """All files of a study but its flips."""
    return {
        str(file): file.read_bytes()
        for file in study.folder.rglob("*")
        if file.is_file() and study.flips not in file.parents
    }


def test_the_scripted_policy_never_flips_and_the_studys_store_stays_as_it_is(home: Path, capsys):
    study = study_with(home, "scripted")
    before = stored(study)
    found = flip(capsys, "--share", "100%")
    assert rates(found) == {"reached": (0, 3), "lifted": (0, 3), "lifted_held": (0, 3), "final_state": (0, 3)}
    assert found["verdicts"][0]["low"] == 0 and 0.5 < found["verdicts"][0]["high"] < 0.6, "Wilson of 0 in 3"
    assert (found["flipped"], found["invalid"]) == ([], [])
    assert stored(study) == before
    lines = Counter(line.key for line in Store(study.folder / found["folder"] / "results").lines("rollout"))
    assert len(lines) == 3 and set(lines.values()) == {1}, "it was simulated again, not read"


def test_a_policy_that_changes_its_mind_flips_what_it_no_longer_lifts(home: Path, tmp_path: Path, capsys):
    study_with(home, "tests.policies:Fickle", {"picks": str(tmp_path / "picks"), "but": ["block_2"]})
    found = flip(capsys, "--share", "1.0")
    assert rates(found) == {"reached": (0, 3), "lifted": (2, 3), "lifted_held": (2, 3), "final_state": (2, 3)}
    lifted = {one["plan"].split(".")[1]: one for one in found["flipped"] if one["verdict"] == "lifted"}
    assert {query: (one["first"], one["repeat"]) for query, one in lifted.items()} == {
        "q00": (True, False),
        "q01": (True, False),
    }


def test_noise_that_changes_no_verdict_changes_every_state(home: Path, capsys):
    study_with(home, "tests.policies:Trembling")
    assert rates(flip(capsys, "--share", "100%"))["final_state"] == (3, 3)


def test_what_becomes_invalid_in_the_repeat_is_no_flip(home: Path, tmp_path: Path, capsys):
    study = study_with(home, "tests.policies:Fickle", {"picks": str(tmp_path / "picks"), "error": True})
    found = flip(capsys, "--share", "100%")
    assert rates(found) == {"reached": (0, 3), "lifted": (0, 0), "lifted_held": (0, 0), "final_state": (0, 0)}
    assert [(one["gate"], one["outcome"], one["reason"]) for one in found["invalid"]] == [
        ("stage_c", "invalid", "harness_error")
    ] * 3
    assert found["verdicts"][1]["rate"] is None
    assert latest_flip(study) == {**found, "is_current": True}


def test_what_did_not_reach_has_no_verdict_of_stage_c(home: Path, capsys):
    study = blocks_study(home, 2)
    answer_wrongly(study, "q00")
    run_here(study, "g0_spike", "stage_b", "stage_c")
    assert rates(flip(capsys, "--share", "100%")) == {
        "reached": (0, 3),
        "lifted": (0, 2),
        "lifted_held": (0, 2),
        "final_state": (0, 2),
    }
    assert rates(flip(capsys, "--share", "1%"))["lifted"] == (0, 1), "one that was simulated is always among them"


def test_a_share_is_of_the_picks_that_have_a_result_and_at_least_one(home: Path):
    study = study_with(home, "scripted")
    results = Results(study)
    assert [len(draw(results, share, 0).plans) for share in (0.01, 0.34, 0.67, 1.0)] == [1, 2, 3, 3]
    assert set(draw(results, 0.01, 0).plans) <= set(draw(results, 0.5, 0).plans), "a larger share holds a smaller one"
    assert len({next(iter(draw(results, 0.01, seed).plans)) for seed in range(20)}) == 3


@pytest.mark.parametrize("share", ["0", "5", "-1%", "101%", "many"])
def test_a_share_that_is_none_is_refused(share: str, capsys):
    with pytest.raises(SystemExit):
        main(["flip", f"--share={share}"])
    assert "expected a share such as 5% or 0.05" in capsys.readouterr().err


def test_a_study_that_has_not_run_is_told_what_to_do(home: Path, capsys):
    blocks_study(home, 1)
    assert main(["flip"]) == 2
    assert "no pick has a result to be repeated; `python -m assets run --study blocks`" in capsys.readouterr().err


def test_a_repeat_that_is_finished_is_followed_by_another(home: Path, capsys):
    study = study_with(home, "scripted", count=1)
    first, second = flip(capsys), flip(capsys)
    assert first["folder"] != second["folder"]
    latest = latest_flip(study)
    assert latest and latest["folder"] == second["folder"]


def test_the_latest_flip_says_when_it_is_of_other_settings(home: Path, capsys):
    study = study_with(home, "scripted", count=1)
    assert latest_flip(study) is None
    flip(capsys)
    latest = latest_flip(study)
    assert latest and latest["is_current"]
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "[judge]\nlift_m = 0.02\n")
    latest = latest_flip(load_study(study.folder))
    assert latest and not latest["is_current"]


def test_the_text_names_denominators(home: Path, capsys):
    study_with(home, "scripted", count=1)
    assert main(["flip", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 of 1 picks of blocks done again (seed 0, policy scripted)" in out
    assert "reached      stage_b      0   1  0.0 % [0.0, 79.3]" in out


@pytest.mark.waits
def test_a_repeat_that_was_killed_goes_on_and_does_nothing_twice(home: Path, tmp_path: Path, capsys):
    calls = tmp_path / "calls"
    options = {"calls": str(calls), "slow_s": 0.5}
    study = study_with(home, "tests.policies:Faulty", options, count=4)
    calls.unlink()
    command = [sys.executable, "-c", MAIN, "flip", "--share", "100%", "--workers", "1"]
    process = subprocess.Popen(command, start_new_session=True)
    until(lambda: len(_done(study)) >= 2, seconds=120)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = _done(study)
    assert 2 <= len(done) < 4
    found = flip(capsys, "--share", "100%")
    assert rates(found)["lifted"] == (0, 4)
    assert len(list(study.flips.glob(f"*/{RESULT}"))) == 1
    again = Counter(_done(study))
    assert set(again.values()) == {1} and len(again) == 4
    assert len(calls.read_text().splitlines()) <= 5, "at most the one that was being done came twice"


def _done(study: Study) -> list[str]:
    return [line.key for folder in study.flips.glob("*/results") for line in Store(folder).lines("stage_c")]
