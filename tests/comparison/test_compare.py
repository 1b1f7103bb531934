"""Two studies are compared pair by pair, and what is in no pair is counted and never taken for anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from sbench_dag.cli import main
from sbench_dag.comparison.compare import compare
from sbench_dag.comparison.runs import Run, open_run
from sbench_dag.comparison.words import verdict
from sbench_dag.errors import SetupError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.plans.plan import Plan
from sbench_dag.reports.links import episode_page, plan_page
from sbench_dag.study import Study, create_study, load_study
from sbench_dag.work.item import Result, Task, WorkItem
from sbench_dag.work.store import Store
from sbench_dag.worker import Worker
from tests.blocks import answer_wrongly, blocks_study
from tests.by_hand import write_answers, write_dataset
from tests.running import run_here

GATES = ("g0_spike", "stage_b", "stage_c")


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Goes to an SBENCH_HOME of that name."""

    def go(name: str) -> Path:
        monkeypatch.setenv("SBENCH_HOME", str(tmp_path / name))
        return tmp_path / name

    return go


@pytest.fixture
def two(at: Callable[[str], Path]) -> tuple[Study, Study]:
    """The same data set, written by hand, in two homes; no results."""
    one, other = (create_study("by-hand", write_dataset(at(name) / "data").root) for name in ("one", "other"))
    return one, other


def decide(study: Study, fate: Callable[[Plan], tuple[bool, bool] | None]) -> Study:
    """Stores results: (reached, lifted) of each plan; None: invalid."""
    fingerprints, store = Fingerprints(study), Store(study.results)
    b, c = store.segment("stage_b"), store.segment("stage_c")
    for plan in study.manifest.plans:
        found = fate(plan)
        reached, lifted = found or (False, False)
        said = Result(Outcome.SUCCESS if reached else Outcome.FAILURE, None if reached else Reason.TOO_FAR)
        if found is None:
            said = Result(Outcome.INVALID, Reason.WORKER_CRASHED)
        b.append(plan.key, fingerprints.of("stage_b", plan.key), said)
        if plan.scoring == "lifted" and reached:
            said = Result(Outcome.SUCCESS if lifted else Outcome.FAILURE, row={"success_held": lifted})
            c.append(plan.key, fingerprints.of("stage_c", plan.key), said)
    return study


def compared(a: Study, b: Study) -> dict:
    return compare(open_run(str(a.folder)), open_run(str(b.folder)))


def row(found: dict, source: str | None, metric: str) -> dict:
    rows = found["plans"] if source is None else found["sources"]
    return next(one for one in rows if (one["source"], one["metric"]) == (source, metric))


def everything(plan: Plan) -> tuple[bool, bool]:
    return True, True


def test_the_same_results_differ_in_nothing_and_no_difference_is_only_claimed_within_a_margin(two):
    found = compared(*(decide(study, everything) for study in two))
    assert found["changed"] == found["differences"] == []
    oracle = row(found, "oracle-loc", "sr_c")
    assert (oracle["n"], oracle["both"], oracle["only_a"], oracle["only_b"]) == (4, 4, 0, 0)
    assert (oracle["difference"], oracle["p"], oracle["p_holm"]) == (0.0, 1.0, 1.0)
    assert oracle["equivalent_within"] > 0.2, "four pairs in two houses prove next to nothing"
    assert verdict({**oracle, "equivalent_within": 1.0}) == "no difference found"
    assert "within" in verdict({**oracle, "equivalent_within": 0.3})


def test_who_succeeded_alone_is_counted_by_source_and_over_plans_once_each(two):
    a, b = decide(two[0], everything), decide(two[1], lambda plan: (plan.episode != "val_0002__0", True))
    found = compared(a, b)
    for source in ("oracle-loc", "first-seen/vlm", "last-seen/vlm"):
        sr_b = row(found, source, "sr_b")
        abstained = 2 if source == "last-seen/vlm" else 0
        assert (sr_b["n"], sr_b["neither"]) == (6, abstained), "an abstention is a failure in both"
        assert (sr_b["only_a"], sr_b["only_b"]) == (3 - abstained // 2, 0)
        assert sr_b["difference"] == pytest.approx(sr_b["only_a"] / 6)
        assert sr_b["clusters"] == 2 and sr_b["low"] <= sr_b["difference"] <= sr_b["high"]
    once = row(found, None, "sr_b")
    plans = a.manifest.plans
    assert (once["n"], once["only_a"]) == (len(plans), sum(plan.episode == "val_0002__0" for plan in plans))
    assert "p_holm" not in once


def test_p_is_mcnemars_and_adjusted_over_the_sources(two):
    a, b = decide(two[0], everything), decide(two[1], lambda plan: (not plan.is_oracle, True))
    found = compared(a, b)
    rows = [one for one in found["sources"] if one["metric"] == "sr_b"]
    oracle = row(found, "oracle-loc", "sr_b")
    assert oracle["only_a"] == 6 and oracle["p"] == pytest.approx(2 * 0.5**6)
    assert oracle["p_holm"] == pytest.approx(min(1, oracle["p"] * len(rows)))


def test_what_is_unknown_in_either_is_in_no_pair_and_gives_a_worst_and_a_best_case(two):
    plan_out = next(plan.key for plan in two[0].manifest.plans if plan.is_oracle and plan.scoring == "lifted")
    b = decide(two[1], lambda plan: None if plan.key == plan_out else (True, True))
    found = compared(decide(two[0], everything), b)
    oracle = row(found, "oracle-loc", "sr_c")
    assert (oracle["planned"], oracle["n"], oracle["difference"]) == (4, 3, 0.0)
    assert oracle["unpaired"] == {
        "only_in_a": 0,
        "only_in_b": 0,
        "unknown_in_a": 0,
        "unknown_in_b": 1,
        "unknown_in_both": 0,
    }
    assert (oracle["least"], oracle["most"]) == (0.0, 0.25)


def test_a_study_that_has_not_run_has_no_pairs_but_abstentions(two):
    found = compared(decide(two[0], everything), two[1])
    oracle = row(found, "oracle-loc", "sr_b")
    assert (oracle["n"], oracle["unpaired"]["unknown_in_b"]) == (0, 6)
    assert (oracle["least"], oracle["most"]) == (0.0, 1.0)
    assert verdict(oracle) == "nothing to compare" and "p_holm" not in oracle
    assert row(found, "last-seen/vlm", "sr_b")["n"] == 2


@pytest.mark.parametrize(
    ("p_holm", "low", "high", "within", "says"),
    [
        (0.01, 0.1, 0.3, 0.28, "they differ; within 28.0 points"),
        (0.01, None, None, 1.0, "no difference found"),
        (0.01, -0.1, 0.5, 1.0, "no difference found"),
        (0.9, -0.1, 0.1, 1.0, "no difference found"),
    ],
)
def test_no_p_says_that_there_is_no_difference(p_holm: float, low: float, high: float, within: float, says: str):
    found = {"n": 9, "p": 0.001, "p_holm": p_holm, "low": low, "high": high, "equivalent_within": within}
    assert verdict(found) == says


def test_other_answers_are_compared_by_query_and_other_sources_are_counted(two):
    write_answers(two[1].dataset_path, "vlm", [("first-seen", q, "kitchen", "sink") for q in ("q00", "q01", "q02")])
    write_answers(two[1].dataset_path, "new", [("first-seen", q, "kitchen", "table") for q in ("q00", "q01", "q02")])
    two[1].refresh_manifest()
    b = load_study(two[1].folder)
    found = compared(decide(two[0], everything), decide(b, lambda plan: ("sink" not in plan.key, True)))
    first = row(found, "first-seen/vlm", "sr_b")
    assert (first["n"], first["only_a"], first["only_b"]) == (6, 6, 0)
    assert row(found, "first-seen/new", "sr_b")["unpaired"]["only_in_b"] == 6
    assert row(found, "last-seen/vlm", "sr_b")["unpaired"]["only_in_a"] == 6
    answers = next(one for one in found["differences"] if one["what"] == "answers")
    assert answers["b"] == "6 of them are others"
    changed = [one for one in found["changed"] if "first-seen/vlm" in one["sources"]]
    assert len(changed) == 6 and all(one["a"]["plan"] != one["b"]["plan"] for one in changed)


@pytest.mark.parametrize("change", ["end state", "truth"])
def test_other_episodes_under_the_same_names_are_refused(two, change: str):
    episode = two[1].dataset.episode("val_0002__0").files
    if change == "end state":
        episode.final_state.write_bytes(episode.final_state.read_bytes() + b" ")
    else:
        episode.eval_spec.write_text(episode.eval_spec.read_text() + " ")
    with pytest.raises(SetupError, match=r"can't be compared: 1 of 2 episodes differ.*val_0002__0.*only their answers"):
        compared(*two)


def test_studies_without_a_query_in_common_are_refused(home: Path):
    a, b = blocks_study(home, 1, "red"), blocks_study(home, 1, "blue")
    with pytest.raises(SetupError, match="no query is in both"):
        compared(a, b)


def test_neither_a_study_nor_a_folder_says_what_there_is(home: Path, capsys):
    blocks_study(home, 1)
    assert main(["compare", "blocks", "nosuch"]) == 2
    assert "'nosuch': no study of that name (there are: blocks)" in capsys.readouterr().err


@pytest.fixture
def policies(home: Path) -> tuple[Study, Study]:
    """The scripted policy and one that does nothing, on the same three blocks, filmed."""
    video = {"video": {"enabled": True, "width": 64, "height": 64}}
    a = blocks_study(home, 3, settings=video)
    b = create_study("idle", a.dataset_path, {**video, "policy": {"name": "tests.policies:Idle", "horizon_steps": 500}})
    for study in (a, b):
        run_here(study, *GATES)
    return a, b


def test_two_policies_for_real(policies: tuple[Study, Study], tmp_path: Path, capsys):
    plans = [plan.key for plan in policies[0].manifest.plans]
    for page in (episode_page(policies[0], "blocks__0"), plan_page(policies[0], "blocks__0", plans[0])):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
    page = tmp_path / "pages" / "compared.html"
    page.parent.mkdir()
    assert main(["compare", "blocks", "idle", "--json", "--html", str(page)]) == 0
    out = capsys.readouterr().out
    found = json.loads(out[out.index("{") :])
    assert {one["what"]: (one["a"], one["b"]) for one in found["differences"]} == {
        "policy.name": ("scripted", "tests.policies:Idle"),
        "policy.horizon_steps": (600, 500),
    }
    reached, lifted = row(found, "oracle-loc", "sr_b"), row(found, "oracle-loc", "sr_c")
    assert (reached["only_a"], reached["only_b"], reached["both"]) == (0, 0, 3)
    assert (lifted["only_a"], lifted["only_b"], lifted["both"]) == (3, 0, 0)
    assert lifted["low"] is None, "one house has no variance between houses"
    assert len(found["changed"]) == 3 and set(found["changed"][0]["sources"]) >= {"oracle-loc"}
    text = page.read_text()
    assert not re.search(r"https?://", text)
    links = re.findall(r'(?:href|src)="([^"]+)"', text)
    files = [(page.parent / unquote(link.partition("#")[0])).resolve() for link in links]
    assert sum(file.suffix == ".mp4" and file.exists() for file in files) == 3 + 3
    pages = {link.rpartition("/")[2]: file for link, file in zip(links, files, strict=True) if "episodes" in file.parts}
    assert set(pages) == {f"{plans[0]}.html", *(f"blocks__0.html#{plan}" for plan in plans[1:])}
    assert all(file.exists() for file in pages.values()), "the other study has no pages, and no links"


def test_the_text_says_what_differs_and_what_changed(policies: tuple[Study, Study], capsys):
    assert main(["compare", "blocks", str(policies[1].folder)]) == 0
    out = capsys.readouterr().out
    assert "policy.name" in out and "tests.policies:Idle" in out
    assert "3 plans have another verdict." in out
    assert out.count("SR_C lifted yes → no; SR_C held yes → no") == 3


def test_results_of_other_code_or_settings_than_todays_are_compared_and_said_to_be_so(home: Path, capsys):
    """As when one study ran with another MuJoCo, in another environment."""
    a = blocks_study(home, 2)
    b = create_study("later", a.dataset_path, {"video": {"enabled": False}})
    for study in (a, b):
        run_here(study, *GATES)
    file = a.folder / "study.toml"
    file.write_text(file.read_text() + "[navigation]\npick_radius_m = 0.6\n[physics]\nsleep = false\n")
    found = compare(open_run("blocks"), open_run("later"))
    assert (found["a"]["earlier"], found["b"]["earlier"]) == (["stage_b", "stage_c"], [])
    assert row(found, "oracle-loc", "sr_c")["both"] == 2
    assert main(["compare", "blocks", "later"]) == 0
    assert "stage_b and stage_c: with other code" in capsys.readouterr().out


def test_results_of_other_episodes_than_todays_never_count(home: Path):
    a = blocks_study(home, 2)
    run_here(a, *GATES)
    state = next(a.dataset_path.glob("episodes/*/final_state.npz"))
    state.write_bytes(state.read_bytes() + b" ")
    run = Run(load_study(a.folder))
    assert (run.of("stage_b"), run.earlier) == ({}, set())


def test_one_generation_is_taken_and_never_a_mixture(home: Path):
    """Two plans were judged by one threshold, and then one of them by another; today's is a third."""
    a = blocks_study(home, 2)
    run_here(a, *GATES)
    file, text = a.folder / "study.toml", (a.folder / "study.toml").read_text()
    file.write_text(text + "[judge]\nlift_m = 0.02\n")
    answer_wrongly(a, "q00")
    run_here(load_study(a.folder), "stage_b")
    second = load_study(a.folder)
    keys = [plan.key for plan in second.manifest.plans if plan.is_oracle]
    wanted = Fingerprints(second).of("stage_c", keys[0])
    Worker(second.folder, "stage_c").run(Task(WorkItem(keys[0], "blocks__0"), wanted))
    file.write_text(text + "[judge]\nlift_m = 0.03\n")
    run = Run(load_study(a.folder))
    assert {key: line.fingerprint for key, line in run.of("stage_c").items()} == {keys[0]: wanted}
