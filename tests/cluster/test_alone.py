"""Runs that overlap at a gate of a study compute nothing twice."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sbench_dag.cluster.alone import Alone
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study, create_study, load_study
from sbench_dag.work.item import Result, Task
from sbench_dag.work.store import Line, Store
from tests.assets.scenes import two_scenes
from tests.by_hand import write_dataset
from tests.running import run_here, tasks_of
from tests.slurm import until

GOOD = Result(Outcome.SUCCESS)
CRASHED = Result(Outcome.INVALID, Reason.WORKER_CRASHED, "killed its worker 2 times")
ORCHESTRATOR = """
import logging, sys
from pathlib import Path
from resources.cluster import ClusterResource, LocalConfig
from sbench_dag.study import load_study
from tests.running import tasks_of

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    study = load_study(Path(sys.argv[1]))
    tasks = tasks_of(study, "stage_c")
    lines = ClusterResource(local=LocalConfig(workers=1)).run(study.folder, "stage_c", tasks)
    for line in lines:
        if line is not None:
            print(line.key, line.outcome, flush=True)
"""


@dataclass
class Slow:
    """A cluster that stores a result for each task, and yields None before each."""

    result: Callable[[str], Result] = lambda key: GOOD
    calls: list[str] = field(default_factory=list)

    def run(self, study: Path, gate: str, tasks: Sequence[Task]) -> Generator[Line | None, None, None]:
        segment = Store(load_study(study).results).segment(gate)
        for task in tasks:
            yield None
            self.calls.append(task.item.key)
            yield segment.append(task.item.key, task.fingerprint, self.result(task.item.key))
        segment.close()


@pytest.fixture
def study(home: Path) -> Study:
    write_dataset(home / "datasets" / "by-hand")
    return create_study("by-hand", home / "datasets" / "by-hand")


def start(run: Generator[Line | None, None, None]) -> None:
    assert next(run) is None


def done(run: Generator[Line | None, None, None]) -> dict[str, Outcome]:
    """What is left of a run; each task once."""
    lines = [line for line in run if line is not None]
    found = {line.key: line.outcome for line in lines}
    assert len(found) == len(lines)
    return found


def test_the_second_waits_and_takes_over_what_the_first_has_done(study: Study, caplog: pytest.LogCaptureFixture):
    tasks = tasks_of(study, "stage_b")
    one, other = Slow(), Slow()
    first = Alone(one).run(study.folder, "stage_b", tasks)
    second = Alone(other).run(study.folder, "stage_b", tasks)
    start(first)
    for _ in range(3):
        start(second)
    assert f"stage_b: process {os.getpid()} on " in caplog.text and caplog.text.count("waiting for it") == 1
    line = next(first)
    assert line is not None and next(second) == line, "as it comes"
    assert len(done(first)) == len(tasks) - 1
    assert len(done(second)) == len(tasks) - 1
    assert other.calls == []


def test_the_second_runs_what_the_first_has_left(study: Study):
    tasks = tasks_of(study, "stage_b")
    one, other = Slow(), Slow()
    first = Alone(one).run(study.folder, "stage_b", tasks)
    start(first)
    next(first)
    second = Alone(other).run(study.folder, "stage_b", tasks)
    assert next(second) is not None
    start(second)
    first.close()
    assert len(done(second)) == len(tasks) - 1
    assert sorted(one.calls + other.calls) == sorted(task.item.key for task in tasks)


def test_what_was_asked_for_before_another_stored_it_is_not_run_again(study: Study):
    tasks = tasks_of(study, "stage_b")
    done(Alone(Slow()).run(study.folder, "stage_b", tasks))
    late = Slow()
    assert set(done(Alone(late).run(study.folder, "stage_b", tasks))) == {task.item.key for task in tasks}
    assert late.calls == []


def test_an_invalid_item_is_tried_again_unless_the_other_has_just_tried(study: Study):
    tasks = tasks_of(study, "stage_b")[:2]
    one, other, later = Slow(lambda key: CRASHED), Slow(), Slow()
    first = Alone(one).run(study.folder, "stage_b", tasks)
    second = Alone(other).run(study.folder, "stage_b", tasks)
    start(first)
    start(second)
    done(first)
    assert set(done(second).values()) == {Outcome.INVALID} and other.calls == []
    assert set(done(Alone(later).run(study.folder, "stage_b", tasks)).values()) == {Outcome.SUCCESS}


def test_other_gates_and_other_inputs_are_not_waited_for_or_taken(study: Study):
    tasks = tasks_of(study, "stage_b")
    first = Alone(Slow()).run(study.folder, "stage_b", tasks)
    start(first)
    other = Slow()
    assert len(done(Alone(other).run(study.folder, "g0_spike", tasks_of(study, "g0_spike")))) == len(other.calls) > 0
    done(first)
    changed = [Task(task.item, "of another input") for task in tasks]
    again = Slow()
    done(Alone(again).run(study.folder, "stage_b", changed))
    assert len(again.calls) == len(tasks)


def test_a_file_system_without_locks_is_said(study: Study, monkeypatch: pytest.MonkeyPatch):
    def flock(file: object, how: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("sbench_dag.files.fcntl.flock", flock)
    with pytest.raises(SetupError, match=r"locks/stage_b can't be locked .*; on Lustre, mount with -o flock"):
        done(Alone(Slow()).run(study.folder, "stage_b", tasks_of(study, "stage_b")))


def orchestrator(home: Path, study: Study, name: str) -> subprocess.Popen:
    """A process that runs Stage C; what it says is in `<home>/<name>`."""
    script = home / "orchestrator.py"
    script.write_text(ORCHESTRATOR)
    with (home / name).open("w") as out:
        return subprocess.Popen(
            [sys.executable, str(script), str(study.folder)],
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
            stdout=out,
            stderr=out,
        )


def test_when_the_process_that_others_wait_for_is_killed_the_next_goes_on_from_there(home: Path):
    study = two_scenes(home)
    run_here(study, "g0_spike", "stage_b")
    plans = sorted(task.item.key for task in tasks_of(study, "stage_c"))
    (home / "hold").touch()
    first = orchestrator(home, study, "first")
    until((home / "calls").exists)
    others = [orchestrator(home, study, name) for name in ("second", "third")]
    until(lambda: all(f"process {first.pid} on" in (home / name).read_text() for name in ("second", "third")))
    first.send_signal(signal.SIGKILL)
    first.wait()
    until(lambda: len((home / "calls").read_text().split()) == 2)
    (home / "hold").unlink()
    assert [process.wait(120) for process in others] == [0, 0]
    for name in ("second", "third"):
        said = [line.split()[0] for line in (home / name).read_text().splitlines() if line.endswith(" success")]
        assert sorted(said) == plans, "each tells of every item"
    for gate in ("stage_c", "rollout"):
        assert sorted(line.key for line in Store(study.results).lines(gate)) == plans
    calls = Counter((home / "calls").read_text().split())
    assert sum(calls.values()) == len(plans) + 1, "once more for the kill"
