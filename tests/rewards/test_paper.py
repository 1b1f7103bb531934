"""What arXiv 2601.00675v2 prints, recomputed from its tables to the printed digit; one test per claim."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sbench_dag.rewards.baselines import Baseline, baselines
from sbench_dag.rewards.metrics import Tally, best_constant, skill, tally, tally_of_table
from sbench_dag.stats.compare import PairedUnits, fisher, paired_units
from tests.rewards.paper.tables import label_arrays, rows, subset_counts, subset_errors

ROBOREWARD_8B, GPT_5_MINI = "RoboReward 8B", "GPT-5 mini"
OVERALL = {
    "RoboReward 8B": 0.665,
    "RoboReward 4B": 0.845,
    "GPT-5 mini": 0.691,
    "Gemini 3 Pro": 0.851,
    "Gemini Robotics-ER 1.5": 0.906,
    "Qwen3-VL Instruct 8B": 0.892,
}
INSTANCE_WEIGHTED = {
    "RoboReward 8B": 0.696,
    "RoboReward 4B": 0.829,
    "GPT-5 mini": 0.761,
    "Gemini 3 Pro": 0.977,
    "Gemini Robotics-ER 1.5": 0.935,
    "Qwen3-VL Instruct 8B": 0.886,
}


def model(name: str) -> Tally:
    return tally_of_table(subset_errors()[name], subset_counts())


def baseline(name: str) -> tuple[Tally, Baseline]:
    subsets, labels = label_arrays()
    found = next(b for b in baselines(labels, subsets) if b.name == name)
    return tally(found.errors, subsets), found


def ranks(values: dict[str, float]) -> dict[str, int]:
    return {name: i for i, name in enumerate(sorted(values, key=lambda name: values[name]), start=1)}


def gap() -> PairedUnits:
    """The two best of the paper, with the 23 subsets as units."""
    errors = subset_errors()
    subsets = list(subset_counts())
    a, b = (np.array([errors[name][subset] for subset in subsets]) for name in (ROBOREWARD_8B, GPT_5_MINI))
    return paired_units(a, b)


def test_2831_instances_in_23_subsets():
    subsets, labels = label_arrays()
    assert len(labels) == 2831 and Counter(subsets.tolist()) == subset_counts()
    assert (len(subset_counts()), subset_counts()["RoboArena"], subset_counts()["DLR Wheelchair"]) == (23, 1000, 19)
    assert [int((labels == label).sum()) for label in range(1, 6)] == [689, 641, 556, 418, 527]


@pytest.mark.parametrize(
    ("name", "group_wise", "instance_weighted"),
    [
        ("always 1", "1.8424", "1.8068"),
        ("always 2", "1.3332", "1.2935"),
        ("always 3", "1.2367", "1.2331"),
        ("always 4", "1.5563", "1.5655"),
        ("always 5", "2.1576", "2.1932"),
        ("oracle median", "1.2039", "1.1978"),
        ("uniform random", "1.6252", "1.6184"),
    ],
)
def test_what_knows_nothing(name: str, group_wise: str, instance_weighted: str):
    found, _ = baseline(name)
    assert f"{found.group_wise:.4f}" == group_wise
    assert f"{found.instance_weighted:.4f}" == instance_weighted


def test_a_draw_from_each_subsets_own_labels():
    assert f"{baseline('oracle marginal')[0].group_wise:.4f}" == "1.5922"


def test_always_2_on_roboarena():
    found, _ = baseline("always 2")
    assert f"{found.per_subset[found.subsets.index('RoboArena')]:.3f}" == "1.190"


def test_always_3_is_the_constant_to_beat():
    subsets, labels = label_arrays()
    score, errors = best_constant(labels, subsets)
    assert (score, f"{errors.group_wise:.4f}") == (3, "1.2367")


def test_four_of_the_papers_22_models_are_worse_than_always_3():
    table = {row["model"]: float(row["mae"]) for row in rows("leaderboard_paper_table7")}
    always_3 = baseline("always 3")[0].group_wise
    assert len(table) == 22
    assert sum((skill(mae, always_3) or 0.0) < 0 for mae in table.values()) == 4


@pytest.mark.parametrize("name", OVERALL)
def test_the_overall_figure_is_the_plain_mean_over_subsets(name: str):
    assert f"{model(name).group_wise:.3f}" == f"{OVERALL[name]:.3f}"


@pytest.mark.parametrize("name", INSTANCE_WEIGHTED)
def test_the_figure_over_instances(name: str):
    assert f"{model(name).instance_weighted:.3f}" == f"{INSTANCE_WEIGHTED[name]:.3f}"


def test_gpt_5_minis_errors_are_recovered_whole():
    found = model(GPT_5_MINI)
    assert (found.sums.sum(), found.counts.sum()) == (2153, 2831)
    # the rounded means would say something else in the third digit
    printed = subset_errors()[GPT_5_MINI]
    rounded = sum(printed[s] * n for s, n in subset_counts().items()) / 2831
    assert (f"{rounded:.4f}", f"{found.instance_weighted:.3f}") == ("0.7605", "0.761")


def test_gemini_3_pro_falls_from_fourth_to_sixth_when_instances_count():
    group_wise = ranks({name: model(name).group_wise or 0.0 for name in OVERALL})
    weighted = ranks({name: model(name).instance_weighted or 0.0 for name in OVERALL})
    assert (group_wise["Gemini 3 Pro"], weighted["Gemini 3 Pro"]) == (4, 6)


def test_665_against_691_is_a_difference_of_0264():
    assert f"{gap().difference:.4f}" == "0.0264"


def test_665_against_691_wins_11_of_23_subsets():
    assert (gap().wins, gap().n, gap().ties) == (11, 23, 0)


def test_665_against_691_is_no_significant_difference():
    p_t, p_sign = gap().p_t, gap().p_sign
    assert (f"{p_t:.3f}", f"{p_sign:.1f}") == ("0.711", "1.0")


def test_665_against_691_hangs_on_one_subset():
    low, high = gap().leave_one_out or (0.0, 0.0)
    assert (f"{low:.4f}", f"{high:.4f}") == ("0.0001", "0.0677")


def test_the_best_of_22_per_subset():
    best = Counter(row["best_models"] for row in rows("subset_best"))
    assert (best[ROBOREWARD_8B], best[GPT_5_MINI]) == (9, 6)


def test_the_full_ablation_is_the_4b_model():
    full = rows("ablation_table3")[0]
    found = model("RoboReward 4B")
    assert f"{found.group_wise:.3f}" == full["mae"] == "0.845"
    assert f"{found.per_subset[found.subsets.index('RoboArena')]:.3f}" == full["roboarena_mae"] == "0.806"


def test_helms_leaderboard_has_the_papers_figures():
    helm = {row["model"]: row for row in rows("leaderboard_helm_2026-09-29")}
    for ours, theirs in (
        ("RoboReward 8B", "RoboReward (8B)"),
        ("GPT-5 mini", "GPT-5 mini (2025-08-07)"),
        ("Gemini Robotics-ER 1.5", "Gemini Robotics-ER 1.5"),
    ):
        found = model(ours)
        assert f"{found.group_wise:.3f}" == helm[theirs]["mae"]
        assert f"{found.per_subset[found.subsets.index('RoboArena')]:.3f}" == helm[theirs]["roboarena_mae"]


def test_table_4_adds_up():
    sums = [sum(int(row[split]) for row in rows("table4_sources")) for split in ("train", "val", "test")]
    assert sums == [45_072, 6_232, 2_831] and sum(sums) == 54_135
    sizes = sorted(int(row["test"]) for row in rows("table4_sources") if int(row["test"]))
    assert sizes == sorted(subset_counts().values())


def test_10_of_20_against_15_of_20_is_no_significant_difference():
    trials = {
        row["reward"]: round(int(row["pick_place_monkey"].split("%")[0]) / 100 * 20) for row in rows("table2_realrobot")
    }
    assert (trials["RoboReward 8B"], trials["Human"]) == (10, 15)
    assert f"{fisher(trials['RoboReward 8B'], 20, trials['Human'], 20):.3f}" == "0.191"
