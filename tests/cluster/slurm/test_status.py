"""`sbench slurm`: what runs, what waits, what is done; and stopping it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbench_dag.cli import main
from sbench_dag.errors import SetupError
from tests.cluster.slurm.test_cluster import ONE_EACH, study_with
from tests.slurm import FAST, Run, Sandbox, until

pytestmark = pytest.mark.waits


def test_it_shows_every_task_while_they_run(home: Path, slurm: Sandbox, capsys: pytest.CaptureFixture[str]):
    settings = FAST.model_copy(update={"shard_minutes": 0.03, "parallel": 1})
    run = Run(study_with(home, slow_s=2.0), settings=settings)
    until(lambda: len(run.lines) >= 1)
    assert main(["slurm", "status"]) == 0
    text = capsys.readouterr().out
    assert "RUNNING" in text and "PENDING (JobArrayTaskLimit)" in text
    assert "of 4 items done in 2 array tasks; what runs should be done by 20" in text
    assert main(["slurm", "status", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["state"], first["total"], second["done"]) == ("RUNNING", 2, 0)
    assert first["done"] >= 1 and first["left_s"] > 0 and Path(first["log"]).exists()
    run.wait()
    assert main(["slurm", "status"]) == 0
    assert "no open jobs" in capsys.readouterr().out


def test_without_a_controller_it_shows_what_the_files_say(
    home: Path, slurm: Sandbox, capsys: pytest.CaptureFixture[str]
):
    run = Run(study_with(home, slow_s=2.0))
    until(lambda: len(run.lines) >= 1)
    slurm.kill("slurmctld")
    assert main(["slurm", "status"]) == 0
    shown = capsys.readouterr()
    assert "UNKNOWN" in shown.out and "/4" in shown.out
    assert "does not answer" in shown.err
    slurm.up()
    run.wait()


def test_cancel_stops_what_runs_and_what_waits(home: Path, slurm: Sandbox, capsys: pytest.CaptureFixture[str]):
    run = Run(study_with(home, slow_s=20.0), settings=ONE_EACH.model_copy(update={"parallel": 2}))
    until(lambda: len(slurm.running()) == 2)
    assert main(["slurm", "cancel"]) == 0
    assert "1 jobs cancelled" in capsys.readouterr().out
    assert slurm.tasks("PD,R,CG") == {}
    with pytest.raises(SetupError, match="cancelled by `sbench slurm cancel`"):
        run.wait()
