"""An operator's day, clicked in a browser: launch, see what failed, put it right, run what failed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import dagster as dg
import pytest
from playwright.sync_api import Page

from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.study import Study
from sbench_dag.work.store import Store
from tests.assets.gate_page import GatePage, re_execute_from_failure
from tests.assets.scenes import two_scenes
from tests.assets.server import ui
from tests.assets.support import Bench
from tests.running import run_here

BROKEN = "b__0"


@pytest.fixture
def study(served_home: Path) -> Study:
    """Two episodes of two picks each, through G0 and Stage B. Dagster has heard of it."""
    study = two_scenes(served_home, blocks=2)
    run_here(study, "g0_spike", "stage_b")
    with dg.DagsterInstance.get() as instance:
        bench = Bench(study, instance)
        bench.must("g0_spike")
        bench.must("stage_b")
        assert bench.cluster.calls == []
    return study


def launch_the_failed(gate: GatePage, failed: Sequence[str]) -> None:
    gate.materialize("Failed", count=len(failed), show="ui-retry-failed")


def re_execute(gate: GatePage, failed: Sequence[str]) -> None:
    re_execute_from_failure(gate, show="ui-re-execute")


@pytest.mark.parametrize("retry", [launch_the_failed, re_execute])
def test_a_broken_episode_fails_alone_and_is_run_again_alone(
    served_home: Path, study: Study, page: Page, retry: Callable[[GatePage, Sequence[str]], None]
):
    picks = [plan.key for plan in study.manifest.plans]
    bad = [plan.key for plan in study.manifest.plans if plan.episode == BROKEN]
    good = [key for key in picks if key not in bad]
    end_state = EpisodeFiles(study.dataset.root / "episodes" / BROKEN).final_state
    whole = end_state.read_bytes()
    with ui() as port:
        gate = GatePage(page, port, study.name, "stage_c")
        gate.open()
        gate.shows(Missing=len(picks))
        gate.materialize("a__0", count=len(good), show="ui-choose")
        gate.shows(Materialized=len(good), Missing=len(bad))
        assert results(study) == (Counter(good), Counter(good))

        end_state.write_bytes(whole[: len(whole) // 2])
        gate.materialize("All", count=len(picks))
        gate.shows(Materialized=len(good), Failed=len(bad))
        gate.lists("Failed", bad, among=picks)
        gate.lists("Materialized", good, among=picks)
        gate.select(bad[0])
        gate.says("failed, and did not materialize this asset", show="ui-failed")
        assert results(study) == (Counter(good), Counter(good))

        end_state.write_bytes(whole)
        retry(gate, bad)
        gate.open()
        gate.shows(Materialized=len(picks), show="ui-green")
    assert results(study) == (Counter(picks), Counter(picks)), "each was computed once"
    policy_was_asked = Counter((served_home / "calls").read_text().split())
    assert policy_was_asked == Counter(f"{episode}/block_{i}" for episode in ("a__0", BROKEN) for i in range(2))


def results(study: Study) -> tuple[Counter[str], Counter[str]]:
    """How often a pick came to a result: in the simulation, and in the judgement of it."""
    rollouts, verdicts = (Store(study.results).lines(gate) for gate in ("rollout", "stage_c"))
    return (
        Counter(line.key for line in rollouts if line.outcome.is_result),
        Counter(line.key for line in verdicts if line.outcome.is_result),
    )
