"""Arrays on a real Slurm: whatever happens to them, each task gets exactly one outcome, and nothing runs twice."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.cluster.slurm.job import Job, Piece, create_job, intend
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.study import Study, load_study
from sbench_dag.work.store import Line, Store
from tests.blocks import blocks_study
from tests.running import rows_of, run_here, tasks_of
from tests.slurm import FAST, Run, Sandbox, sandbox, until

pytestmark = pytest.mark.waits

COUNT = 4
ONE_EACH = FAST.model_copy(update={"shard_minutes": 0.001})
PATIENT = FAST.model_copy(update={"grace_s": 60.0})  # a requeued task looks over for a moment, longer on a busy machine
SUCCESS = (Outcome.SUCCESS, None)


def study_with(home: Path, **options: object) -> Study:
    """A study of four picks whose Stage B is done; its policy is Faulty with these options."""
    policy = {"name": "tests.policies:Faulty", "options": {**options, "calls": str(home / "calls")}}
    study = blocks_study(home, COUNT, settings={"policy": policy})
    run_here(study, "g0_spike", "stage_b")
    return study


def calls(home: Path) -> Counter[str]:
    file = home / "calls"
    return Counter(file.read_text().split()) if file.exists() else Counter()


def once() -> Counter[str]:
    return Counter(f"block_{i}" for i in range(COUNT))


def outcomes(lines: list[Line]) -> dict[str, tuple[Outcome, Reason | None]]:
    assert len(lines) == len({line.key for line in lines}), "one line for each task"
    return {line.key.split(".")[1]: (line.outcome, line.result.reason) for line in lines}


def all_fine(lines: list[Line]) -> bool:
    return len(lines) == COUNT and set(outcomes(lines).values()) == {SUCCESS}


def history(study: Study) -> str:
    """What array tasks wrote, to be read where one did what it should not."""
    files = sorted([*study.jobs.glob("*/logs/*"), *study.jobs.glob("*/attempts/*")])
    return "\n".join(f"{file}:\n{file.read_text()}" for file in files)


def worker_of(job: Job) -> int:
    """The process of the job's only array task."""
    found = subprocess.run(["pgrep", "-f", f"slurm.task {job.folder}"], capture_output=True, text=True)
    [pid] = map(int, found.stdout.split())
    return pid


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])


def test_an_array_gives_the_rows_that_this_process_gives(home: Path, slurm: Sandbox):
    study = study_with(home)
    run = Run(study, settings=ONE_EACH)
    assert all_fine(run.wait())
    assert len(slurm.tasks()) == COUNT
    assert calls(home) == once()
    [line] = [line for line in run.lines if ".q02." in line.key]
    assert line.origin["id"] in slurm.tasks()
    assert line.origin["node"] in ("c1", "c2")
    assert line.origin["queue_s"] >= 0 and line.origin["run_s"] > 0 and line.origin["max_rss_mib"] > 50
    assert line.key in Path(line.origin["log"]).read_text()
    until(lambda: not slurm.running())
    assert run.jobs == [], "it is closed"

    rows = rows_of(study, "stage_c")
    for file in (study.results / "stage_c").iterdir():
        file.unlink()
    for file in (study.results / "rollout").iterdir():
        file.unlink()
    run_here(study, "stage_c")
    assert rows == rows_of(study, "stage_c")


def test_a_study_shorter_than_a_shard_is_one_array_task(home: Path, slurm: Sandbox):
    run = Run(study_with(home))
    assert all_fine(run.wait())
    assert len(slurm.tasks()) == 1


def test_nothing_missing_submits_nothing(home: Path, slurm: Sandbox):
    study = study_with(home)
    run_here(study, "stage_c")
    assert Run(study).wait() == []
    assert slurm.tasks() == {}


def test_a_task_cancelled_from_outside_is_submitted_again(home: Path, either: Sandbox):
    run = Run(study_with(home, slow_s=2.0), settings=ONE_EACH)
    until(lambda: len(either.running()) == COUNT)
    either.call("scancel", either.running()[1])
    assert all_fine(run.wait())


def test_tasks_cancelled_while_they_wait_leave_no_record_and_are_submitted_again(home: Path, either: Sandbox):
    run = Run(study_with(home), settings=ONE_EACH.model_copy(update={"options": ["--hold"]}))
    until(lambda: len(either.tasks("PD")) == COUNT)
    job = next(iter(either.tasks())).split("_")[0]
    either.call("scancel", f"{job}_1", f"{job}_2")
    until(lambda: len({task.split("_")[0] for task in either.tasks("PD")}) == 2, 30)
    for task in either.tasks("PD"):
        either.call("scontrol", "release", task.split("_")[0])
    assert all_fine(run.wait())
    assert calls(home) == once()


def test_a_killed_worker_costs_nothing_that_is_done(home: Path, either: Sandbox):
    study = study_with(home, slow_s=1.0)
    run = Run(study)
    until(lambda: len(run.lines) >= 1)
    [job] = run.jobs
    until(lambda: job.attempt(0) is not None)
    os.kill(worker_of(job), signal.SIGKILL)
    assert all_fine(run.wait())
    assert sum(calls(home).values()) <= COUNT + 1, "at most what it was at is done again"


def test_a_crash_is_dealt_with_in_the_array_task(home: Path, slurm: Sandbox):
    run = Run(study_with(home, crash=["block_1"]))
    found = outcomes(run.wait())
    assert found.pop("q01") == (Outcome.INVALID, Reason.WORKER_CRASHED)
    assert set(found.values()) == {SUCCESS}
    assert len(slurm.tasks()) == 1, "nobody had to wait in the queue again"


def test_a_hang_is_dealt_with_in_the_array_task(home: Path, slurm: Sandbox):
    run = Run(study_with(home, hang=["block_1"]), settings=FAST.model_copy(update={"timeout_s": 8.0}))
    found = outcomes(run.wait())
    assert found.pop("q01") == (Outcome.INVALID, Reason.TIMED_OUT)
    assert set(found.values()) == {SUCCESS}
    assert len(slurm.tasks()) == 1


def test_a_plan_that_takes_its_array_task_along_is_isolated_and_then_invalid(home: Path, both: Sandbox):
    run = Run(study_with(home, kill_parent=["block_1"]))
    found = outcomes(run.wait())
    assert found.pop("q01") == (Outcome.INVALID, Reason.WORKER_CRASHED)
    assert set(found.values()) == {SUCCESS}
    assert calls(home) == once() + Counter({"block_1": 1})
    [line] = [line for line in run.lines if not line.outcome.is_result]
    assert line.result.message.count("FAILED") == 2, "the cause of each attempt is told"
    alone = list(run.study.jobs.glob("*/shards/1.json"))
    assert len(alone) == 1 and '"kills": 1' in alone[0].read_text(), "the second time it had a shard of its own"


@pytest.mark.parametrize(("how", "told"), [([], "memory limit"), (["--cgroup"], "OUT_OF_MEMORY")])
def test_a_plan_that_eats_all_memory_is_invalid_and_costs_no_other(home: Path, how: list[str], told: str):
    """Slurm itself kills the whole array task; a kernel's cgroup kills the worker process, which is tried again."""
    with sandbox(*how):
        run = Run(study_with(home, eat_memory=["block_2"]), settings=FAST.model_copy(update={"memory": "900M"}))
        found = outcomes(run.wait(180))
    assert found.pop("q02") == (Outcome.INVALID, Reason.WORKER_CRASHED)
    assert set(found.values()) == {SUCCESS}
    [invalid] = [line for line in run.lines if not line.outcome.is_result]
    assert told in invalid.result.message or "exit code -9" in invalid.result.message


def test_a_requeued_task_goes_on_under_the_same_id(home: Path, both: Sandbox):
    run = Run(study_with(home, slow_s=1.5), settings=PATIENT)
    until(lambda: len(run.lines) >= 1)
    [task] = both.running()
    both.call("scontrol", "requeue", task)
    until(lambda: both.tasks("PD"))
    both.release()
    assert all_fine(run.wait())
    assert set(both.tasks()) == {task}, "it was not submitted again:\n" + history(run.study)
    assert max(line.origin["restart"] for line in run.lines) == 1
    assert sum(calls(home).values()) <= COUNT + 1


def test_a_preempted_task_goes_on(home: Path, both: Sandbox):
    settings = PATIENT.model_copy(update={"partition": "preempt", "gres": "gpu:1"})
    run = Run(study_with(home, slow_s=1.5), settings=settings)
    until(lambda: len(run.lines) >= 1)
    [task] = both.running()
    both.call("sbatch", "-p", "gpu", "--exclusive", "--nodes=2", "--wrap", "sleep 4", "-o", "/dev/null")
    until(lambda: task in both.tasks("PD"))
    both.release()
    assert all_fine(run.wait())
    assert sum(calls(home).values()) <= COUNT + 1


@pytest.mark.parametrize("requeue", [True, False])
def test_a_lost_node(home: Path, requeue: bool):
    settings = PATIENT if requeue else FAST.model_copy(update={"options": ["--no-requeue"]})
    with sandbox("--conf", "SlurmdTimeout=5") as slurm:
        run = Run(study_with(home, slow_s=2.0), settings=settings)
        until(lambda: len(run.lines) >= 1)
        [job] = run.jobs
        attempt = job.attempt(0)
        assert attempt is not None
        slurm.kill(f"slurmd.{attempt.node}")
        for pid in (parent_of(worker := worker_of(job)), worker):  # slurmstepd, and its only child
            os.kill(pid, signal.SIGKILL)
        if requeue:
            until(lambda: slurm.tasks("PD"), 60)
            slurm.release()
        assert all_fine(run.wait())
        assert sum(calls(home).values()) <= COUNT + 1


def test_near_its_time_limit_a_task_ends_cleanly_and_the_rest_is_submitted_again(home: Path, slurm: Sandbox):
    settings = FAST.model_copy(update={"time_limit": "1", "notice_s": 30})
    run = Run(study_with(home, slow_s=12.0), settings=settings)
    assert all_fine(run.wait(240))
    attempts = [Job(file.parent).attempt(0) for file in run.study.jobs.glob("*/job.json")]
    assert "stopped" in [attempt.end for attempt in attempts if attempt]
    assert "TIMEOUT" not in slurm.tasks().values(), "Slurm did not have to kill it"


def test_a_task_that_its_time_limit_kills_is_submitted_again(home: Path, both: Sandbox):
    """The worker is stopped with SIGSTOP: it hears neither notice nor SIGTERM."""
    settings = FAST.model_copy(update={"time_limit": "1", "notice_s": 0})
    run = Run(study_with(home, slow_s=1.0), settings=settings)
    until(lambda: len(run.lines) >= 1)
    [job] = run.jobs
    os.kill(worker_of(job), signal.SIGSTOP)
    assert all_fine(run.wait(180))
    assert "TIMEOUT" in both.tasks().values()
    assert sum(calls(home).values()) <= COUNT + 1


def test_a_controller_that_is_down_for_a_minute_is_a_warning(
    home: Path, slurm: Sandbox, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.WARNING, "sbench_dag")
    run = Run(study_with(home, slow_s=25.0), settings=ONE_EACH.model_copy(update={"poll_s": 2.0, "parallel": 2}))
    until(lambda: len(slurm.running()) == 2)
    slurm.kill("slurmctld")
    time.sleep(60)
    assert len(run.lines) == 2, "results come in all the same"
    slurm.up()
    assert all_fine(run.wait())
    assert calls(home) == once()
    warnings = [record.message for record in caplog.records if "answer" in record.message]
    assert len(warnings) == 2, warnings
    lasted = re.fullmatch(r"Slurm answers again, after (\d+) s", warnings[1])
    assert lasted and 50 <= int(lasted[1]) <= 100


def test_an_outage_that_outlives_the_run_is_a_warning_too(home: Path, slurm: Sandbox, caplog: pytest.LogCaptureFixture):
    run = Run(study_with(home, slow_s=3.0))
    until(lambda: len(run.lines) >= 1)
    slurm.kill("slurmctld")
    assert all_fine(run.wait())
    assert re.search(r"Slurm has not answered for \d+ s, and is not needed any more", caplog.text)


ORCHESTRATOR = """
import sys
from pathlib import Path
from sbench_dag.cluster.slurm.cluster import SlurmCluster
from sbench_dag.cluster.slurm.job import Job, Piece, create_job, intend
from sbench_dag.cluster.slurm.settings import SlurmSettings
from sbench_dag.study import load_study
from tests.running import tasks_of
study = load_study(Path(sys.argv[1]))
settings = SlurmSettings.model_validate_json(sys.argv[2])
for line in SlurmCluster(settings).run(study.folder, "stage_c", tasks_of(study, "stage_c")):
    if line is not None:
        print(line.key, flush=True)
"""


def orchestrator(study: Study, settings: SlurmSettings) -> subprocess.Popen[str]:
    """Another process that runs the study's Stage C."""
    command = [sys.executable, "-c", ORCHESTRATOR, str(study.folder), settings.model_dump_json()]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_new_orchestrator_follows_what_a_killed_one_has_submitted(home: Path, either: Sandbox):
    study = study_with(home, slow_s=2.0)
    first = orchestrator(study, FAST)
    assert first.stdout and first.stdout.readline(), "it has seen a result"
    first.kill()
    first.wait()
    run = Run(study)
    lines = run.wait()
    assert set(outcomes(lines).values()) == {SUCCESS}
    assert calls(home) == once(), "nothing ran twice"
    assert len(rows_of(study, "stage_c")) == COUNT
    assert len(list(study.jobs.glob("*/job.json"))) == 1, "nothing was submitted again"


def test_results_that_came_while_nobody_looked_are_found(home: Path, either: Sandbox):
    study = study_with(home)
    tasks = tasks_of(study, "stage_c")
    first = orchestrator(study, FAST)
    until(lambda: either.running())
    first.kill()
    first.wait()
    until(lambda: not either.running())
    time.sleep(3)
    lines = SlurmCluster(FAST).run(study.folder, "stage_c", tasks)
    assert all_fine([line for line in lines if line is not None])
    assert calls(home) == once()


def test_an_orchestrator_that_died_before_it_could_note_the_id(home: Path, either: Sandbox):
    study = study_with(home, slow_s=1.0)
    deadly = FAST.model_copy(update={"submit": ["bash", "-c", 'sbatch "$@"; kill -9 $PPID', "_"]})
    first = orchestrator(study, deadly)
    assert first.wait(60) == -signal.SIGKILL
    [folder] = [file.parent for file in study.jobs.glob("*/job.json")]
    assert not (folder / "submitted.json").exists()
    assert all_fine(Run(study).wait())
    assert calls(home) == once()
    assert len(list(study.jobs.glob("*/job.json"))) == 1


def test_an_orchestrator_that_died_before_it_could_submit(home: Path, slurm: Sandbox):
    study = study_with(home)
    deadly = FAST.model_copy(update={"submit": ["bash", "-c", "kill -9 $PPID", "_"]})
    assert orchestrator(study, deadly).wait(60) == -signal.SIGKILL
    assert all_fine(Run(study).wait())
    assert calls(home) == once()


def test_two_orchestrators_at_a_time_share_the_work(home: Path, slurm: Sandbox):
    study = study_with(home, slow_s=0.5)
    one, other = Run(study, settings=ONE_EACH), Run(study, settings=ONE_EACH)
    assert all_fine(one.wait()) and all_fine(other.wait())
    assert calls(home) == once()


def test_closing_a_run_leaves_its_job_alone(home: Path, slurm: Sandbox):
    study = study_with(home, slow_s=1.0)
    run = SlurmCluster(FAST, is_cancelled=lambda: False).run(study.folder, "stage_c", tasks_of(study, "stage_c"))
    next(line for line in run if line is not None)
    run.close()
    assert len(slurm.running()) == 1
    assert all_fine([*Run(study).wait(), *done_before(study)])
    assert calls(home) == once()


def done_before(study: Study) -> list[Line]:
    """The line that the closed run had seen already."""
    return list(Store(study.results).lines("stage_c"))[:1]


def test_closing_a_cancelled_run_cancels_its_job_and_waits_until_it_is_gone(home: Path, slurm: Sandbox):
    study = study_with(home, slow_s=3.0)
    cluster = SlurmCluster(ONE_EACH.model_copy(update={"parallel": 2}), is_cancelled=lambda: True)
    run = cluster.run(study.folder, "stage_c", tasks_of(study, "stage_c"))
    next(line for line in run if line is not None)
    run.close()
    assert slurm.tasks("PD,R,CG") == {}
    assert subprocess.run(["pgrep", "-f", f"slurm.task {study.jobs}"], capture_output=True).stdout == b""


def test_a_wrong_partition_is_one_clear_error(home: Path, slurm: Sandbox):
    study = study_with(home)
    run = Run(study, settings=FAST.model_copy(update={"partition": "gpus"}))
    started = time.monotonic()
    with pytest.raises(SetupError, match="invalid partition specified: gpus"):
        run.wait()
    assert time.monotonic() - started < 10
    assert slurm.tasks() == {}
    assert all_fine(Run(study).wait()), "and no trace of it is in the way of the next run"


def test_a_worker_that_can_not_begin_is_one_clear_error(home: Path, slurm: Sandbox):
    run = Run(study_with(home), settings=ONE_EACH.model_copy(update={"python": "/usr/bin/no-such-python"}))
    with pytest.raises(SetupError, match=r"could not begin.*no-such-python"):
        run.wait()
    assert slurm.tasks("PD,R,CG") == {}


def test_a_worker_of_the_wrong_mujoco_is_one_clear_error(home: Path, slurm: Sandbox):
    study = blocks_study(home, COUNT, settings={"physics": {"mujoco": "2.0.0"}})
    with pytest.raises(SetupError, match=r"could not begin.*physics.mujoco = '2.0.0'"):
        Run(study, "g0_spike", FAST).wait()


def test_a_refusal_does_not_touch_what_runs(
    home: Path, slurm: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("sbench_dag.cluster.slurm.cluster.REFUSED_RETRY_S", 2.0)
    refuse = home / "refuse"
    wrapper = f'[ -e {refuse} ] && {{ echo sbatch: error: QOSMaxSubmitJobPerUserLimit >&2; exit 1; }}; sbatch "$@"'
    settings = ONE_EACH.model_copy(update={"submit": ["bash", "-c", wrapper, "_"]})
    run = Run(study_with(home, slow_s=8.0), settings=settings)
    until(lambda: len(slurm.running()) == COUNT)
    refuse.touch()
    slurm.call("scancel", slurm.running()[0])
    until(lambda: "trying again" in caplog.text)
    assert len(slurm.running()) == COUNT - 1
    refuse.unlink()
    assert all_fine(run.wait())


def test_one_node_on_which_nothing_can_begin(home: Path, slurm: Sandbox):
    """The first tasks land on c1, where the set-up fails; the others run."""
    setup = ['[ "$SLURMD_NODENAME" != c1 ] || { echo no such module; exit 1; }']
    settings = ONE_EACH.model_copy(update={"setup": setup, "cpus": 4})
    run = Run(study_with(home, slow_s=3.0), settings=settings)
    assert all_fine(run.wait())
    assert "--exclude=c1" in "".join(file.read_text() for file in run.study.jobs.glob("*/job.sh"))


def test_a_new_orchestrator_during_an_outage_follows_what_runs(
    home: Path, slurm: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    study = study_with(home, slow_s=4.0)
    first = orchestrator(study, FAST)
    assert first.stdout and first.stdout.readline()
    first.kill()
    first.wait()
    slurm.kill("slurmctld")
    monkeypatch.setattr("sbench_dag.cluster.slurm.outage.SILENCE_UNTIL_ERROR_S", 0.0)
    run = Run(study)
    until(lambda: len(run.lines) >= 2, 90)
    slurm.up()
    run.wait()
    assert len(rows_of(study, "stage_c")) == COUNT
    assert calls(home) == once()


@pytest.mark.parametrize("wrapper", ['sbatch -J mine "$@"', 'sbatch "$@"; false', 'echo 12; sbatch "$@"; echo bye'])
def test_wrappers_of_many_kinds(home: Path, slurm: Sandbox, wrapper: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SBATCH_JOB_NAME", "theirs")
    monkeypatch.setenv("SBATCH_PARTITION", "gpu")
    settings = FAST.model_copy(update={"submit": ["bash", "-c", wrapper, "_"], "partition": "cpu"})
    run = Run(study_with(home), settings=settings)
    assert all_fine(run.wait())
    assert calls(home) == once()
    assert len({task.split("_")[0] for task in slurm.tasks()}) == 1
    assert {line.origin["node"] for line in run.lines} == {"c1"}


def test_a_job_of_old_inputs_that_slurm_has_forgotten_is_closed(
    home: Path, slurm: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sbench_dag.cluster.slurm.cluster.IDLE_S", 0.0)
    study = study_with(home)
    study.jobs.mkdir()
    old = [Piece(replace(task, fingerprint="0" * 16)) for task in tasks_of(study, "stage_c")]
    job = create_job(study.jobs, "stage_c", [old])
    intend(job, "", gate="stage_c", shards=1, workers=1, timeout_s=60.0)
    assert all_fine(Run(study).wait())
    assert job.is_closed


def test_the_same_script_submitted_twice_runs_once(home: Path, slurm: Sandbox):
    run = Run(study_with(home, slow_s=1.0))
    until(lambda: len(run.lines) >= 1)
    [job] = run.jobs
    slurm.call("sbatch", str(job.script))
    assert all_fine(run.wait())
    assert calls(home) == once()


def test_long_items_get_shards_of_their_own(home: Path, slurm: Sandbox):
    """What rollouts took is remembered; verdicts from stored rollouts, which take no time, do not dilute it."""
    study = study_with(home, slow_s=4.0)
    assert all_fine(Run(study).wait())
    for lift_m in (0.011, 0.012, 0.013):  # three verdicts that simulate nothing
        text = (study.folder / "study.toml").read_text().split("[judge]")[0]
        (study.folder / "study.toml").write_text(f"{text}[judge]\nlift_m = {lift_m}\n")
        run_here(load_study(study.folder), "stage_c")
    text = text.replace('"slow_s" = 4.0', '"slow_s" = 4.1')
    (study.folder / "study.toml").write_text(text)
    settings = FAST.model_copy(update={"shard_minutes": 9 / 60})
    run = Run(load_study(study.folder), settings=settings)
    assert len(run.wait()) == COUNT
    newest = max(study.jobs.glob("*/job.json"), key=lambda file: file.stat().st_mtime)
    assert len(list((newest.parent / "shards").iterdir())) >= 2


def test_a_shell_function_submits(home: Path, slurm: Sandbox):
    functions = home / "slurm commands.sh"
    study = study_with(home)
    functions.write_text('sbm() { echo "submitting for you"; sbatch --comment=by-sbm "$@"; }\n')
    settings = FAST.model_copy(update={"submit": ["bash", "-c", f". '{functions}' && sbm \"$@\"", "_"]})
    run = Run(study, settings=settings)
    until(lambda: slurm.tasks())
    assert "by-sbm" in slurm.call("squeue", "-h", "-t", "all", "-o", "%k")
    assert all_fine(run.wait())


def test_a_wrapper_that_prints_no_id(home: Path, slurm: Sandbox):
    quiet = FAST.model_copy(update={"submit": ["bash", "-c", 'sbatch "$@" > /dev/null', "_"]})
    run = Run(study_with(home), settings=quiet)
    assert all_fine(run.wait())
    assert calls(home) == once()
    assert len({task.split("_")[0] for task in slurm.tasks()}) == 1


def test_set_up_lines_container_and_options_reach_the_worker(home: Path, slurm: Sandbox):
    settings = FAST.model_copy(
        update={
            "setup": ["export FROM_SETUP=yes"],
            "container": "env FROM_CONTAINER=yes",
            "options": ["--comment=hello"],
            "partition": "gpu",
            "gres": "gpu:2",
            "cpus": 2,
            "workers": 2,
        }
    )
    run = Run(study_with(home, slow_s=2.0), settings=settings)
    until(lambda: slurm.running())
    [job] = run.jobs
    until(lambda: job.attempt(0) is not None)
    environment = Path(f"/proc/{worker_of(job)}/environ").read_text().split("\0")
    assert {"FROM_SETUP=yes", "FROM_CONTAINER=yes", "CUDA_VISIBLE_DEVICES=0,1"} <= set(environment)
    assert slurm.call("squeue", "-h", "-o", "%k %C").split() == ["hello", "2"]
    assert all_fine(run.wait())


def test_behind_srun_the_worker_still_hears_that_its_time_is_up(home: Path, slurm: Sandbox):
    """As at a site whose containers are an option of srun."""
    settings = FAST.model_copy(update={"container": "srun --ntasks=1"})
    run = Run(study_with(home, slow_s=2.0), settings=settings)
    until(lambda: len(run.lines) >= 1)
    [job] = run.jobs
    [task] = slurm.running()
    slurm.call("scancel", "--batch", "--signal=USR1", task)
    assert all_fine(run.wait())
    attempt = job.attempt(0)
    assert attempt is not None and attempt.end == "stopped"
    assert sum(calls(home).values()) <= COUNT + 1


def test_a_held_job_is_waited_for_and_said(home: Path, slurm: Sandbox, caplog: pytest.LogCaptureFixture):
    run = Run(study_with(home), settings=FAST.model_copy(update={"options": ["--hold"]}))
    until(lambda: "is held" in caplog.text)
    time.sleep(3)
    assert caplog.text.count("is held") == 1
    slurm.call("scontrol", "release", next(iter(slurm.tasks())).split("_")[0])
    assert all_fine(run.wait())


def test_a_dependency_that_will_never_come_is_not_waited_for(home: Path, slurm: Sandbox):
    slurm.call("sbatch", "--wrap", "exit 1", "-o", "/dev/null")
    until(lambda: "FAILED" in slurm.tasks().values())
    study = study_with(home)
    settings = FAST.model_copy(update={"options": ["--dependency=afterok:1"], "attempts": 2})
    lines = Run(study, settings=settings).wait()
    assert set(outcomes(lines).values()) == {(Outcome.INVALID, Reason.WORKER_LOST)}
    assert "DependencyNeverSatisfied" in lines[0].result.message
    assert slurm.tasks("PD,R,CG") == {}


def test_an_episode_that_changes_while_its_job_waits_gets_no_wrong_result(home: Path, slurm: Sandbox):
    study = study_with(home)
    run = Run(study, settings=FAST.model_copy(update={"options": ["--hold"]}))
    until(lambda: slurm.tasks("PD"))
    text = (study.folder / "study.toml").read_text()
    (study.folder / "study.toml").write_text(text + "[judge]\nlift_m = 0.02\n")
    slurm.call("scontrol", "release", next(iter(slurm.tasks())).split("_")[0])
    assert set(outcomes(run.wait()).values()) == {(Outcome.NOT_RUN, Reason.INPUT_CHANGED)}
    assert all_fine(Run(load_study(study.folder)).wait())


@pytest.mark.parametrize("delay_s", [2.5, 4.0, 5.5])
def test_killed_at_any_moment_and_rerun_nothing_is_lost_and_nothing_done_twice(home: Path, delay_s: float):
    """The array task's program alone, as Slurm starts it."""
    study = study_with(home)
    study.jobs.mkdir()
    job = create_job(study.jobs, "stage_c", [[Piece(task) for task in tasks_of(study, "stage_c")]])
    intend(job, "", gate="stage_c", shards=1, workers=1, timeout_s=60.0)
    command = [sys.executable, "-m", "sbench_dag.cluster.slurm.task", str(job.folder)]
    slurm = {"SLURM_JOB_NAME": job.name, "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": "0"}
    worker = subprocess.Popen(command, env={**os.environ, **slurm})
    time.sleep(delay_s)
    worker.kill()
    worker.wait()
    time.sleep(2)  # its child notices
    done = {line.key for line in Store(study.results).lines("stage_c")}
    subprocess.run(command, env={**os.environ, **slurm, "SLURM_RESTART_COUNT": "1"}, check=True)
    keys = [line.key for line in Store(study.results).lines("stage_c")]
    assert len(keys) == len(set(keys)) == COUNT
    assert done <= set(keys)
