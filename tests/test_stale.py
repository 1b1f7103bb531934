"""The table of docs/stale.md, line by line: what makes what stale, in a study that really simulates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sbench_dag import pipeline
from sbench_dag.cli import main
from sbench_dag.dataset.answers import Answer, Run, Selection, write_run
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import GATES, Fingerprints, find_gate
from sbench_dag.plans.build import build_manifest
from sbench_dag.plans.manifest import write_manifest
from sbench_dag.reports.episode_page import write_episode
from sbench_dag.reports.grid import Results
from sbench_dag.reports.page import write_summary
from sbench_dag.stale import EARLIER_GATE, UNKNOWN, Scan, Scanner, State
from sbench_dag.study import Study, create_study, find_study
from sbench_dag.work.fingerprint import code_sha256
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.assets.scenes import two_scenes
from tests.running import run_here

STEPS = (*(gate.name for gate in GATES), "report", "summary")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SBENCH_HOME with a study of two episodes with two blocks each, in which everything is done."""
    home = tmp_path_factory.mktemp("stale") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(home))
        study = two_scenes(home, blocks=2)
        run_here(study)
        write_pages(study)
    return home


@pytest.fixture
def study(made: Path, home: Path) -> Study:
    shutil.copytree(made, home)
    return find_study("blocks")


def write_pages(study: Study) -> None:
    results = Results(study)
    for episode in study.manifest.episodes:
        write_episode(results, episode)
    write_summary(results)


def scan(study: Study) -> Scan:
    return Scanner(study.folder).scan()


def not_fresh(found: Scan) -> dict[str, dict[str, tuple[str, tuple[str, ...]]]]:
    """Per step the items that are not fresh: state and why."""
    states = {
        step: {key: (str(i.state), i.why) for key, i in items.items() if i.state is not State.FRESH}
        for step, items in found.steps.items()
    }
    return {step: items for step, items in states.items() if items}


def stale(found: Scan) -> dict[str, set[str]]:
    """Per step the episodes that stale items are of, or {""} for the summary, and nothing that is not stale."""
    states = not_fresh(found)
    assert {state for items in states.values() for state, _ in items.values()} <= {"stale"}
    return {step: {key.split(".")[0] for key in items} for step, items in states.items()}


def why(found: Scan, gate: str) -> set[str]:
    return {part for item in found.steps[gate].values() for part in item.why}


def settings(study: Study, text: str) -> None:
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + text)


def answer(study: Study, episode: str, query: str, room: str) -> None:
    """What somebody said to one query; to the others of the study they said nothing."""
    file = study.dataset.root / "answers" / "s3_someone" / "results.json"
    asked = study.dataset.episode(episode).eval_spec.query(query)
    said = Answer(episode, query, "last-seen", (Selection(asked.category, room, "floor"),), False, None, 0)
    write_run(file, Run(file, "someone", study.revision, False, (said,)), {(episode, query): asked.text})
    study.refresh_manifest()


def raise_version(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As somebody does who changes what a gate's result is."""
    old = find_gate(name)
    new = replace(old, code_version=old.code_version + "+1")
    gates = tuple(new if gate.name == name else gate for gate in GATES)
    monkeypatch.setattr("sbench_dag.pipeline.GATES", gates)
    monkeypatch.setattr("sbench_dag.stale.GATES", gates)
    monkeypatch.setitem(pipeline._BY_NAME, name, new)


def invalidate(study: Study, gate: str, key: str, reason: Reason) -> None:
    """The store as if the key had never had anything but this invalid line."""
    wanted = Fingerprints(study).of(gate, key)
    for file in (study.results / gate).glob("*.jsonl"):
        kept = [line for line in file.read_text().splitlines(keepends=True) if f'"{key}"' not in line]
        file.write_text("".join(kept))
    Store(study.results).segment(gate).append(key, wanted, Result(Outcome.INVALID, reason, "it broke"))


def counting(study: Study) -> Callable[[], dict[str, int]]:
    """How many lines of each gate, rollouts too, have been added since."""
    store = Store(study.results)
    names = [gate.name for gate in (*GATES, find_gate("rollout"))]
    before = {name: len(list(store.lines(name))) for name in names}
    return lambda: {n: more for n in names if (more := len(list(store.lines(n))) - before[n])}


def test_nothing_is_stale_after_everything_was_run(study: Study):
    found = scan(study)
    assert not not_fresh(found)
    assert {row["gate"]: row["fresh"] for row in found.rows()} == {
        "g0_spike": 2, "stage_b": 4, "stage_c": 4, "rollout_rewards": 4, "report": 2, "summary": 1
    }  # fmt: skip


def test_the_end_state_of_one_episode_changes_that_episodes_gates_only(study: Study):
    file = study.dataset.episode("a__0").files.final_state
    file.write_bytes(file.read_bytes() + b" ")
    found = scan(study)
    assert stale(found) == {**{step: {"a__0"} for step in STEPS[:-1]}, "summary": {""}}
    assert {gate.name: why(found, gate.name) for gate in GATES} == {gate.name: {"episode"} for gate in GATES}


@pytest.mark.parametrize("file", ["scene.xml", "looks.xml", "scene_metadata.json"])
def test_a_file_of_a_scene_changes_the_episodes_of_that_scene_only(study: Study, file: str):
    scanner, scene = Scanner(study.folder), study.dataset.root / "scenes" / "b"
    _include(scene / "scene.xml", "looks.xml")
    run_here(find_study("blocks"))
    write_pages(find_study("blocks"))
    assert not not_fresh(scanner.scan())
    (scene / file).write_text((scene / file).read_text() + " ")
    found = scanner.scan()
    assert stale(found) == {**{step: {"b__0"} for step in STEPS[:-1]}, "summary": {""}}
    assert {gate.name: why(found, gate.name) for gate in GATES} == {gate.name: {"episode"} for gate in GATES}


def _include(xml: Path, name: str) -> None:
    xml.with_name(name).write_text("<mujoco><visual/></mujoco>")
    xml.write_text(xml.read_text().replace("</mujoco>", f'<include file="{name}"/></mujoco>'))


@pytest.mark.parametrize("breaks", ["no scene", "no metadata", "scene is a folder", "no meta", "meta", "xml", "scene"])
def test_a_scene_that_is_gone_makes_stale_and_raises_nothing(study: Study, breaks: str):
    scene, meta = study.dataset.root / "scenes" / "b", study.dataset.episode("b__0").files.meta
    data = json.loads(meta.read_text())
    match breaks:
        case "no scene":
            (scene / "scene.xml").unlink()
        case "no metadata":
            (scene / "scene_metadata.json").unlink()
        case "scene is a folder":
            (scene / "scene.xml").unlink()
            (scene / "scene.xml").mkdir()
        case "no meta":
            meta.unlink()
        case "meta":
            meta.write_text("{")
        case "xml":
            meta.write_text(json.dumps({**data, "scene": {"xml": "/"}}))
        case "scene":
            meta.write_text(json.dumps({**data, "scene": 5}))
    assert stale(scan(study))["g0_spike"] == {"b__0"}
    [line] = [line for line in run_here(study, "g0_spike")["g0_spike"] if line.key == "b__0"]
    assert line.result.reason is Reason.BAD_INPUT


def test_another_answer_is_another_plan_and_concerns_that_alone(study: Study):
    before = set(study.manifest.entry)
    answer(study, "a__0", "q00", "attic")
    [new] = set(study.manifest.entry) - before
    found = not_fresh(scan(study))
    assert {step: found.pop(step) for step in ("stage_b", "stage_c", "rollout_rewards")} == {
        step: {new: ("missing", ())} for step in ("stage_b", "stage_c", "rollout_rewards")
    }
    assert set(found.pop("report")) == {"a__0"}
    assert set(found) == {"summary"}
    answer(study, "a__0", "q00", "cellar")
    [newer] = set(study.manifest.entry) - before
    assert newer != new
    assert set(not_fresh(scan(study))["stage_b"]) == {newer}, "the plan that nobody asks for any more is gone"


def test_a_plan_whose_content_has_changed_is_stale_because_of_its_answer(study: Study):
    manifest = build_manifest(study.dataset)
    first, *rest = manifest.plans
    changed = replace(manifest, plans=(replace(first, gt_bodies=("block_1",)), *rest))
    write_manifest(study.manifest_folder, changed)
    found = not_fresh(scan(study))
    assert {step: found[step] for step in found if step in ("g0_spike", "stage_b", "stage_c", "rollout_rewards")} == {
        step: {first.key: ("stale", ("answer",))} for step in ("stage_b", "stage_c", "rollout_rewards")
    }


def test_a_judges_threshold_rejudges_and_simulates_nothing(study: Study):
    settings(study, "[judge]\nlift_m = 0.02\n")
    found = scan(study)
    everywhere = {"a__0", "b__0"}
    assert stale(found) == {"stage_c": everywhere, "rollout_rewards": everywhere, "report": everywhere, "summary": {""}}
    assert why(found, "stage_c") == {"configuration"}
    added = counting(study)
    run_here(find_study("blocks"))
    assert added() == {"stage_c": 4, "rollout_rewards": 4}, "no rollout"


def test_another_policy_concerns_stage_c_and_what_follows(study: Study):
    file = study.folder / "study.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("options")]
    file.write_text("\n".join(lines).replace("tests.assets.policies:Listed", "scripted") + "\n")
    found = scan(study)
    assert set(stale(found)) == {"stage_c", "rollout_rewards", "report", "summary"}
    assert why(found, "stage_c") == {"configuration"}


@pytest.mark.parametrize(
    ("text", "concerned"),
    [
        ("[restore]\nsettle_s = 1.1\n", STEPS),
        ("[navigation]\npick_radius_m = 0.71\n", STEPS[1:]),
        ("[physics]\nsleep = false\n", STEPS),
        ("[partitions]\nby = 'episode'\n", ()),
    ],
)
def test_a_setting_concerns_the_gates_that_read_it(study: Study, text: str, concerned: tuple[str, ...]):
    settings(study, text)
    assert tuple(stale(scan(study))) == concerned


@pytest.mark.parametrize("what", ["another model", "its table"])
def test_a_reward_model_concerns_rewards_only(study: Study, home: Path, what: str):
    if what == "its table":
        settings(study, "[rewards]\nmodels = ['lengths']\n")
        run_here(find_study("blocks"))
        thresholds = "[1, 2, 3, 4]"
        (home / "reward_models.toml").write_text(f"[lengths]\nkind = 'clip-length'\nthresholds_s = {thresholds}\n")
    else:
        settings(study, "[rewards]\nmodels = ['constant-3']\n")
    found = scan(study)
    assert set(stale(found)) >= {"rollout_rewards"} and set(stale(found)) <= {"rollout_rewards", "report", "summary"}
    assert why(found, "rollout_rewards") == {"configuration"}


def test_a_limit_of_a_stopping_gate_concerns_nothing(study: Study):
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace("smoke_lifted_min = 0.5", "smoke_lifted_min = 0.6"))
    assert find_study("blocks").stop != study.stop
    assert not not_fresh(scan(study))


def test_another_policy_is_another_study_beside_the_old_one(study: Study, home: Path):
    other = create_study("slower", home / "datasets" / "blocks", {"policy": {"horizon_steps": 700}})
    assert {row["gate"]: row["missing"] for row in scan(other).rows()}["stage_c"] == 4
    assert not not_fresh(scan(study)), "the old one stays as it is"


def test_a_new_reward_code_concerns_rewards_only(study: Study, monkeypatch: pytest.MonkeyPatch):
    raise_version(monkeypatch, "rollout_rewards")
    found = scan(study)
    assert set(stale(found)) == {"rollout_rewards", "report", "summary"}
    assert why(found, "rollout_rewards") == {"code"}


@pytest.mark.parametrize(
    ("gate", "concerned"),
    [
        ("g0_spike", ["g0_spike", "stage_b", "stage_c", "rollout_rewards"]),
        ("stage_b", ["stage_b", "stage_c", "rollout_rewards"]),
        ("rollout", ["stage_c", "rollout_rewards"]),
        ("stage_c", ["stage_c", "rollout_rewards"]),
    ],
)
def test_a_gates_code_concerns_it_and_those_after_it(
    study: Study, monkeypatch: pytest.MonkeyPatch, gate: str, concerned: list[str]
):
    raise_version(monkeypatch, gate)
    found = scan(study)
    assert list(stale(found)) == [*concerned, "report", "summary"]
    assert why(found, concerned[0]) == {"code"}
    assert all(why(found, later) == {EARLIER_GATE} for later in concerned[1:])


def test_another_mujoco_concerns_everything(study: Study, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mujoco.__version__", "99.0")
    found = scan(study)
    assert set(stale(found)) == set(STEPS)
    assert why(found, "g0_spike") == {"engine"}


def test_a_comment_in_the_code_concerns_nothing(study: Study):
    """Code counts by its version, and tests/test_code_versions.py does not ask for a new one for a comment."""
    file = Path(study.folder / "code.py")
    file.write_text("x = 1\n")
    before = code_sha256([file])
    file.write_text('"""A docstring."""\n# a comment\nx = 1\n')
    assert code_sha256([file]) == before


def test_another_revision_is_another_study_beside_the_old_one(study: Study, home: Path):
    new = home / "datasets" / "blocks-2"
    shutil.copytree(home / "datasets" / "blocks", new)
    info = json.loads((new / "dataset.json").read_text())
    (new / "dataset.json").write_text(json.dumps({**info, "revision": "2"}))
    other = create_study("blocks-2", new)
    assert {row["gate"]: row["missing"] for row in scan(other).rows()}["stage_b"] == 4
    assert not not_fresh(scan(study)), "the old one stays as it is"


def test_an_invalid_item_is_failed_until_something_changes(study: Study):
    key = study.manifest.entries[0].key
    invalidate(study, "stage_b", key, Reason.WORKER_CRASHED)
    found = scan(study)
    assert not_fresh(found)["stage_b"] == {key: ("failed", ())}
    file = study.dataset.episode("a__0").files.final_state
    file.write_bytes(file.read_bytes() + b" ")
    assert scan(study).steps["stage_b"][key].state is State.MISSING, "it never had a result"


def test_what_was_invalid_for_an_earlier_gate_is_stale_once_that_has_a_result(study: Study):
    key = study.manifest.entries[0].key
    invalidate(study, "stage_b", key, Reason.G0_FAILED)
    assert not_fresh(scan(study))["stage_b"] == {key: ("stale", (EARLIER_GATE,))}


def test_a_result_of_an_older_version_says_no_reason(study: Study):
    for file in (study.results / "g0_spike").glob("*.jsonl"):
        file.unlink()
    segment = Store(study.results).segment("g0_spike")
    for episode in study.manifest.episodes:
        segment.append(episode, "of an older version", Result(Outcome.SUCCESS))
    assert why(scan(study), "g0_spike") == {UNKNOWN}


def test_a_missing_page_is_missing(study: Study):
    (study.reports / "episodes" / "a__0.html").unlink()
    (study.reports / "index.html").unlink()
    assert not_fresh(scan(study)) == {"report": {"a__0": ("missing", ())}, "summary": {"": ("missing", ())}}


def test_a_scanner_finds_what_changes_after_its_first_look(study: Study):
    scanner = Scanner(study.folder)
    assert not not_fresh(scanner.scan())
    meta = study.dataset.episode("b__0").files.meta
    meta.write_text(meta.read_text() + " ")
    assert stale(scanner.scan())["stage_c"] == {"b__0"}
    run_here(find_study("blocks"))
    write_pages(find_study("blocks"))
    assert not not_fresh(scanner.scan())
    settings(study, "[navigation]\npick_radius_m = 0.71\n")
    assert stale(scanner.scan())["stage_b"] == {"a__0", "b__0"}


def test_a_scanner_that_looks_again_finds_what_a_new_one_finds(study: Study):
    """Only episodes with new lines or other files are looked at anew; the others are taken from the last look."""
    key, other = study.manifest.by_episode["a__0"][0].key, study.manifest.by_episode["b__0"][0].key
    scanner = Scanner(study.folder)
    scanner.scan()
    for file in (study.results / "stage_b").glob("*.jsonl"):
        kept = [line for line in file.read_text().splitlines(keepends=True) if key not in line]
        file.write_text("".join(kept))
    again = Scanner(study.folder)
    assert again.scan().steps["stage_b"][key].state is State.MISSING
    run_here(find_study("blocks"), "stage_b")
    found = again.scan()
    assert found.steps == scan(study).steps
    assert found.steps["stage_b"][key].state is State.FRESH
    (study.reports / "episodes" / "b__0.html").unlink()
    assert again.scan().steps == scan(study).steps
    assert again.scan().steps["report"]["b__0"].state is State.MISSING
    invalidate(study, "stage_c", other, Reason.WORKER_CRASHED)
    assert again.scan().steps == scan(study).steps


def test_what_came_while_a_scan_failed_is_not_lost(study: Study, monkeypatch: pytest.MonkeyPatch):
    scanner = Scanner(study.folder)
    scanner.scan()
    key = study.manifest.by_episode["a__0"][0].key
    wanted = Fingerprints(study).of("stage_b", key)
    for file in (study.results / "stage_b").glob("*.jsonl"):
        file.unlink()
    Store(study.results).segment("stage_b").append(key, wanted, Result(Outcome.INVALID, Reason.WORKER_CRASHED, ""))
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr("sbench_dag.stale.episode_version", _broken)
        scanner.scan()
    assert scanner.scan().steps == scan(study).steps
    assert scanner.scan().steps["stage_b"][key].state is State.FAILED


def _broken(*_: object) -> str:
    raise OSError


def test_the_command_prints_it(study: Study, capsys: pytest.CaptureFixture[str]):
    file = study.dataset.episode("a__0").files.final_state
    file.write_bytes(file.read_bytes() + b" ")
    assert main(["stale", "--json"]) == 0
    rows = {row["gate"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["stage_b"] == {
        "gate": "stage_b", "items": 4, "fresh": 2, "stale": 2, "missing": 0, "failed": 0, "why": {"episode": 2}
    }  # fmt: skip
    assert main(["stale"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("stage_b"))
    assert line.split() == ["stage_b", "4", "2", "2", "0", "0", "episode", "(2)"]
