"""A real scene that is not one of ours, from the block's answer to its lift."""

from __future__ import annotations

from sbench_dag.outcomes import Outcome
from sbench_dag.study import Study
from tests.running import run_here


def test_the_example_goes_through_every_gate(block_study: Study):
    done = run_here(block_study)
    assert {gate: [line.outcome for line in lines] for gate, lines in done.items()} == {
        "g0_spike": [Outcome.SUCCESS],
        "stage_b": [Outcome.SUCCESS],
        "stage_c": [Outcome.SUCCESS],
        "rollout_rewards": [Outcome.SUCCESS],
    }
    [selection] = done["stage_b"][0].row["selections"]
    assert selection["approached"] == "red_block"
    assert done["stage_c"][0].row["success_held"]
    assert done["rollout_rewards"][0].row["label"] == 5


def test_its_metadata_is_read_as_molmospaces_writes_it(block_study: Study):
    [plan] = block_study.manifest.plans
    assert (plan.category, plan.gt_bodies, plan.floor) == ("block", ("red_block",), True)
