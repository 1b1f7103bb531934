"""McNemar's power: the project's anchors, and trials that are drawn and tested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from sbench_dag.stats.power import detectable_difference, mcnemar_power, power_table


@pytest.mark.parametrize(
    ("n", "discordant", "difference", "alpha", "power"),
    [
        (298, 0.3, 0.05, 0.05, 0.31),
        (298, 0.3, 0.10, 0.05, 0.87),
        (298, 0.2, 0.05, 0.05, 0.43),
        (298, 0.2, 0.08, 0.05, 0.85),
        (148, 0.3, 0.05, 0.05, 0.16),
        (148, 0.3, 0.10, 0.05, 0.57),
        (298, 0.3, 0.10, 0.0125, 0.73),
    ],
)
def test_the_anchors_which_were_simulated(n: int, discordant: float, difference: float, alpha: float, power: float):
    assert mcnemar_power(n, discordant, difference, alpha) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize(("n", "discordant", "difference"), [(298, 0.2, 0.05), (148, 0.3, 0.1), (30, 1.0, 0.3)])
def test_trials_that_are_drawn_are_rejected_as_often(n: int, discordant: float, difference: float):
    rng = np.random.default_rng(1)
    only = (discordant + difference) / 2, (discordant - difference) / 2
    trials = rng.multinomial(n, [*only, 1 - discordant], 20_000)[:, :2]
    kinds, how_many = np.unique(trials, axis=0, return_counts=True)
    p = np.array([mcnemar_of_statsmodels([[0, a], [b, 0]], exact=True).pvalue for a, b in kinds])
    assert mcnemar_power(n, discordant, difference) == pytest.approx(how_many[p <= 0.05].sum() / 20_000, abs=0.012)


@pytest.mark.parametrize("n", [1, 5, 6, 50, 298, 5000])
@pytest.mark.parametrize("alpha", [0.05, 0.0125])
def test_no_difference_is_found_no_more_often_than_alpha(n: int, alpha: float):
    assert mcnemar_power(n, 0.3, 0.0, alpha) <= alpha


def test_five_discordant_pairs_can_show_nothing_and_six_can():
    assert mcnemar_power(5, 1.0, 1.0) == 0.0
    assert mcnemar_power(6, 1.0, 1.0) == 1.0  # two-sided p of 6 to 0: 1/32


def test_of_nothing_nothing_is_found():
    assert mcnemar_power(0, 0.3, 0.1) == mcnemar_power(298, 0.0, 0.0) == 0.0
    assert detectable_difference(0, 0.3) is detectable_difference(298, 0.0) is detectable_difference(5, 1.0) is None


@pytest.mark.parametrize(("n", "discordant"), [(298, 0.3), (148, 0.2), (14_700, 0.3)])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.9, 0.0125)])
def test_the_detectable_difference_is_found_with_this_power(n: int, discordant: float, power: float, alpha: float):
    least = detectable_difference(n, discordant, power, alpha)
    assert least is not None
    assert mcnemar_power(n, discordant, least, alpha) == pytest.approx(power, abs=0.005)
    assert (
        mcnemar_power(n, discordant, least - 0.002, alpha) < power < mcnemar_power(n, discordant, least + 0.002, alpha)
    )


def test_either_cell_may_be_the_better_one():
    assert mcnemar_power(298, 0.3, -0.1) == pytest.approx(mcnemar_power(298, 0.3, 0.1))


@pytest.mark.parametrize(("discordant", "difference"), [(0.05, 0.1), (1.2, 0.1), (0.05, -0.1), (-0.1, 0.0)])
def test_a_difference_is_within_the_discordant_pairs(discordant: float, difference: float):
    with pytest.raises(ValueError, match=f"{difference:g} with a share of discordant pairs of {discordant:g}"):
        mcnemar_power(298, discordant, difference)


def test_the_table_has_a_row_for_each_n():
    table = power_table([148, 298], [0.05, 0.1, 0.15], 0.3)
    assert table == [[mcnemar_power(n, 0.3, d) for d in (0.05, 0.1, 0.15)] for n in (148, 298)]


def test_the_table_of_the_documentation_is_this_power():
    text = (Path(__file__).parents[2] / "docs/statistics.md").read_text()
    for n in (100, 148, 298, 500, 1000, 2000):
        powers = [power for share in (0.2, 0.3, 0.4) for power in power_table([n], [0.05, 0.1], share)[0]]
        least = [detectable_difference(n, share) or 0.0 for share in (0.2, 0.3, 0.4)]
        assert (
            f"| {n:,} | {' | '.join(f'{p:.2f}' for p in powers)} | {' | '.join(f'{100 * d:.1f}' for d in least)} |"
            in text
        )
