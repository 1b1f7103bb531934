"""Workers in an environment of their own, without Dagster and with the MuJoCo that MolmoSpaces pins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sbench_dag.outcomes import Outcome
from tests.blocks import blocks_study
from tests.slurm import FAST, Run, Sandbox

PYTHON = Path(__file__).parents[3] / ".venv-mujoco35" / "bin" / "python"


@pytest.mark.mujoco35
def test_an_array_runs_in_the_workers_environment(home: Path, slurm: Sandbox):
    versions = subprocess.run(
        [PYTHON, "-c", "import mujoco; print(mujoco.__version__)"], capture_output=True, text=True
    )
    version = versions.stdout.strip()
    assert version.startswith("3.5."), versions.stderr
    study = blocks_study(home, 2, settings={"physics": {"mujoco": version}})
    settings = FAST.model_copy(update={"python": str(PYTHON)})
    for gate in ("g0_spike", "stage_b", "stage_c", "rollout_rewards"):
        lines = Run(study, gate, settings).wait()
        assert {line.outcome for line in lines} == {Outcome.SUCCESS}, gate
        assert {line.versions["mujoco"] for line in lines} == {version}
