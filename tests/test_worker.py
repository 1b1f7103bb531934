"""A worker that comes to its tasks late does not answer yesterday's question, nor with another simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest

from sbench_dag.context import Context
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints, find_gate
from sbench_dag.study import Study
from sbench_dag.work.item import Result, Task, WorkItem
from sbench_dag.work.store import Line, Store
from sbench_dag.worker import Worker
from tests.blocks import blocks_study
from tests.running import run_here, tasks_of

GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards")


@pytest.fixture
def study(home: Path) -> Study:
    return blocks_study(home, 1)


def run(study: Study, gate: str, task: Task) -> Line:
    return Worker(study.folder, gate).run(task)


def is_outdated(line: Line) -> bool:
    return (line.outcome, line.result.reason) == (Outcome.NOT_RUN, Reason.INPUT_CHANGED)


def test_a_task_of_today_is_run(study: Study):
    [task] = tasks_of(study, "g0_spike")
    assert run(study, "g0_spike", task).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("gate", GATES)
def test_a_task_whose_fingerprint_is_not_todays_is_not_run(study: Study, gate: str):
    [task] = tasks_of(study, gate)
    line = run(study, gate, Task(task.item, "yesterday's"))
    assert is_outdated(line)
    assert line.fingerprint == "yesterday's", "so that whoever asked sees it"
    assert "run it again" in line.result.message
    assert not (study.results / "rollout").exists()
    assert list(Store(study.results).lines(gate)) == [line]


def test_a_setting_that_has_changed_since_makes_a_task_outdated(study: Study):
    [task] = tasks_of(study, "stage_c")
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "[judge]\nlift_m = 0.02\n")
    assert is_outdated(run(study, "stage_c", task))


@pytest.mark.parametrize("gate", GATES)
def test_a_key_that_the_manifest_no_longer_names_is_not_run(study: Study, gate: str):
    task = Task(WorkItem("gone__0.q00.oracle", "gone__0"), "yesterday's")
    assert is_outdated(run(study, gate, task))


def test_an_episode_that_is_gone_is_not_run(study: Study):
    [task] = tasks_of(study, "g0_spike")
    episodes = study.dataset.root / "episodes"
    (episodes / task.item.key).rename(episodes / "renamed__0")
    study.refresh_manifest()
    assert is_outdated(run(study, "g0_spike", task))


@pytest.mark.parametrize("changed", ["episodes/blocks__0/meta.json", "scenes/blocks/scene.xml"])
@pytest.mark.parametrize("gate", ["g0_spike", "stage_c"])
def test_an_episode_that_changes_while_it_is_worked_on_gives_no_result(
    study: Study, gate: str, changed: str, monkeypatch: pytest.MonkeyPatch
):
    """Its files may have been read half before and half after. The rollout inside Stage C counts as little."""
    for earlier in ("g0_spike", "stage_b")[: GATES.index(gate)]:
        run_here(study, earlier)
    [task] = tasks_of(study, gate)
    worker = Worker(study.folder, gate)
    inner = find_gate("rollout" if gate == "stage_c" else gate)

    def meanwhile(context: Context, item: WorkItem) -> Result:
        result = inner.run(context, item)
        file = study.dataset.root / changed
        file.write_text(file.read_text() + " ")
        return result

    monkeypatch.setattr("sbench_dag.manipulation.gate.ROLLOUT", replace(inner, run=meanwhile))
    if gate == "g0_spike":
        worker.gate = replace(inner, run=meanwhile)
    assert is_outdated(worker.run(task))
    assert not [line for name in GATES[2:] for line in Store(study.results).lines(name) if line.outcome.is_result]
    assert not list(Store(study.results).lines("rollout"))


def test_what_went_wrong_with_files_that_changed_meanwhile_is_no_outcome(study: Study, monkeypatch: pytest.MonkeyPatch):
    """A file that is being copied: it can't be read for a moment, and then it is what it was."""
    [task] = tasks_of(study, "g0_spike")
    worker, meta = Worker(study.folder, "g0_spike"), study.dataset.episode("blocks__0").files.meta

    def half(context: Context, item: WorkItem) -> Result:
        meta.write_text(meta.read_text()[:5])
        return find_gate("g0_spike").run(context, item)

    worker.gate = replace(worker.gate, run=half)
    assert is_outdated(worker.run(task))


def test_a_world_of_files_that_were_there_for_a_moment_is_not_used_again(study: Study):
    """The episode's files change and change back: what was built in between is of other files."""
    run_here(study, "g0_spike")
    [task] = tasks_of(study, "stage_b")
    worker, files = Worker(study.folder, "stage_b"), study.dataset.episode("blocks__0").files
    before, gate, worlds = files.meta.read_bytes(), worker.gate, []

    def run(context: Context, item: WorkItem) -> Result:
        worlds.append(context.world("blocks__0"))
        return gate.run(context, item)

    worker.gate = replace(gate, run=run)
    worker.context.fingerprints.of("stage_b", task.item.key)
    files.meta.write_bytes(before + b" ")
    assert is_outdated(worker.run(task))
    files.meta.write_bytes(before)
    assert worker.run(task).outcome is Outcome.SUCCESS
    assert worlds[0] is not worlds[1]


def test_a_line_says_what_its_fingerprint_is_made_of(study: Study):
    [task] = tasks_of(study, "g0_spike")
    line = run(study, "g0_spike", task)
    assert line.made_of == Fingerprints(study).parts("g0_spike", task.item.key)
    assert set(line.made_of) == {"code", "engine", "configuration", "episode"}


def test_another_mujoco_than_the_studys_runs_nothing(home: Path):
    study = blocks_study(home, 1, settings={"physics": {"mujoco": "2.0.0"}})
    with pytest.raises(SetupError, match=rf"physics\.mujoco = '2\.0\.0', and this worker has {mujoco.__version__}"):
        Worker(study.folder, "g0_spike")
    assert not study.results.exists()
