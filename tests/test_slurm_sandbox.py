"""scripts/slurm-sandbox: what `make slurm-up` boots."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.slurm import SCRIPT, sandbox, until

pytestmark = pytest.mark.waits


def script(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *map(str, arguments)], capture_output=True, text=True)


def test_up_is_idempotent_and_says_how_to_reach_it():
    with sandbox() as one:
        before = one.pid("slurmctld")
        again = script("up", "--dir", one.folder)
        assert again.stdout == f"export SLURM_CONF={one.folder}/slurm.conf\n"
        assert one.pid("slurmctld") == before


def test_it_has_four_nodes_and_gpus_to_give_away():
    with sandbox() as one:
        assert one.call("sinfo", "-h", "-N", "-p", "cpu,gpu", "-o", "%N %c %G").split("\n")[:4] == [
            "c1 8 (null)",
            "c2 8 (null)",
            "g1 8 gpu:4",
            "g2 8 gpu:4",
        ]
        assert one.call("srun", "-p", "gpu", "--gres=gpu:2", "printenv", "CUDA_VISIBLE_DEVICES") == "0,1\n"


def test_accounting_outlives_the_queue():
    with sandbox("--accounting") as one:
        one.call("srun", "true")
        until(lambda: "COMPLETED" in one.call("sacct", "-n", "-X", "-o", "State"), 30)


def test_status_and_down():
    with sandbox() as one:
        shown = script("status", "--dir", one.folder)
        assert shown.returncode == 0
        assert "slurmd.g2" in shown.stdout and "PARTITION" in shown.stdout
        one.call("sbatch", "--wrap", "sleep 600", "-o", "/dev/null")
        until(one.running)
        script("down", "--dir", one.folder)
        shown = script("status", "--dir", one.folder)
        assert shown.returncode == 1
        assert "slurmctld    down" in shown.stdout
        one.up()
        assert one.running() == [], "the job was stopped with the cluster"


def test_two_at_a_time_do_not_touch_each_other():
    with sandbox() as one:
        environment = {**os.environ}
        with sandbox() as other:
            other.call("sbatch", "--wrap", "sleep 600", "-o", "/dev/null")
            until(other.running)
            done = subprocess.run(["squeue", "-h"], env=environment, capture_output=True, text=True)
            assert done.stdout == ""
        assert one.call("srun", "echo", "still there") == "still there\n"


def test_a_path_too_long_for_its_sockets_is_said():
    failed = script("up", "--dir", "/tmp/" + "x" * 120)
    assert failed.returncode == 1
    assert "too long a path" in failed.stderr
