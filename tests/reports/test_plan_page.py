"""Every plan has a page that says what was asked, answered and done, and what is missing."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from sbench_dag.cli import main
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.plans.build import Cell, heard
from sbench_dag.plans.plan import ORACLE, Plan
from sbench_dag.reports import episode_page as pages
from sbench_dag.reports.episode_page import write_episode
from sbench_dag.reports.grid import Results
from sbench_dag.reports.house import World, look_at_house
from sbench_dag.reports.links import episode_page, plan_href, plan_page, plan_pages
from sbench_dag.reports.versions import episode_version, written_version
from sbench_dag.study import Study, find_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store
from tests.reports.rooms import (
    BALL,
    CUBE_ON_FLOOR,
    EPISODE,
    FIRST_CUBE,
    SECOND_CUBE,
    SOURCE,
    THIRD_CUBE,
    rooms_study,
    say,
)
from tests.running import run_here

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

TEMPLATES = Path(pages.__file__).parent / "templates"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SBENCH_HOME with the study of the two rooms, everything run and its pages written. Copy it."""
    home = tmp_path_factory.mktemp("rooms") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(home))
        study = rooms_study(home)
        run_here(study)
        write_episode(Results(study), EPISODE)
    return home


@pytest.fixture
def study(made: Path, home: Path) -> Study:
    shutil.copytree(made, home)
    return find_study("rooms")


@pytest.fixture
def fresh(made: Path, home: Path) -> Study:
    """The same study with nothing run."""
    shutil.copytree(made, home)
    for name in ("results", "reports", "traces", "videos"):
        shutil.rmtree(home / "studies" / "rooms" / name)
    return find_study("rooms")


def plan_of(study: Study, query: str, source: str = ORACLE) -> Plan:
    return next(p for p in study.manifest.plans if p.query == query and source in p.sources)


def html_of(study: Study, plan: Plan, write: bool = True) -> str:
    if write:
        write_episode(Results(study), EPISODE)
    return plan_page(study, EPISODE, plan.key).read_text()


def text_of(html: str) -> str:
    """What stands on a page, in single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html.split("</style>")[1])).split())


def set_line(study: Study, gate: str, key: str, outcome: Outcome, reason: Reason | None, message: str = "") -> None:
    """The gate's only line for a key."""
    result = Result(outcome, reason, message)
    Store(study.results).segment(gate).append(key, Fingerprints(study).of(gate, key), result)


# What a page shows


def test_a_success_shows_all_there_is(study: Study):
    plan = plan_of(study, SECOND_CUBE)
    html = html_of(study, plan, write=False)
    text = text_of(html)
    assert "The robot lifted what was asked for, and held it long enough." in text
    assert "cube_1_1 on the table (table_2_1), room 1" in text
    assert "It saw cube_1_1 there, which is right, and went to it." in text
    assert 'class="contact robot"' in html and 'class="limit"' in html
    assert re.search(r"label is 5 of 5", text)
    assert "clip-length" in text and "small" in text
    assert f"sbench show '{plan.key}' --study rooms" in text
    line = Results(study).of("stage_c")[plan.key]
    assert line.fingerprint in text and line.host in text and line.versions["mujoco"] in text
    [video] = re.findall(r'<video src="([^"]*)"', html)
    assert (plan_page(study, EPISODE, plan.key).parent / unquote(video)).resolve().stat().st_size > 0


def test_the_floor_plan_has_all_marks_where_they_belong(study: Study):
    plan = plan_of(study, SECOND_CUBE)
    html = html_of(study, plan, write=False)
    [drawing] = re.findall(r'<svg class="drawing floor-plan".*?</svg>', html, re.DOTALL)
    house = look_at_house(Results(study), EPISODE)
    assert not isinstance(house, str)
    [selection] = Results(study).of("stage_b")[plan.key].row["selections"]
    base, sheet = selection["base"], house.sheet
    marks = dict(re.findall(r'translate\((\S+ \S+)\)[^>]*><g class="mark"><use href="#(\w+)"', drawing))
    at = {name: tuple(float(v) for v in place.split()) for place, name in marks.items()}
    assert at["base"] == pytest.approx((sheet.x(base["x"]), sheet.y(base["y"])), abs=0.1)
    assert at["start"] == pytest.approx((sheet.x(house.plan.start.x), sheet.y(house.plan.start.y)), abs=0.1)
    cube = next(thing for thing in house.plan.objects if thing.uid == "cube_1_1")
    assert drawing.count('href="#right"') == drawing.count('href="#approached"') == 1
    assert f"translate({sheet.x(cube.x):.1f} {sheet.y(cube.y):.1f})".replace(".0", "") in drawing.replace(".0", "")
    assert drawing.count('href="#alike"') == 3, "the other cubes"
    assert 'class="anchor"' in drawing and 'class="reach"' in drawing and 'class="pick"' in drawing
    assert "room 0" in drawing and "room 1" in drawing and "table (table_2_1)" in drawing


def test_a_path_is_called_what_it_is(study: Study):
    """The rooms have no door: the oracle's ways into the other room are straight lines."""
    in_this_room, in_the_other = html_of(study, plan_of(study, FIRST_CUBE)), html_of(study, plan_of(study, BALL))
    assert "It is not simulated" in in_this_room and 'class="way"' in in_this_room
    assert "no path over free floor leads to where the robot was put" in in_the_other
    assert 'class="way straight"' in in_the_other


def test_a_failure_says_why_in_plain_words_and_where_the_robot_went(study: Study):
    text = text_of(html_of(study, plan_of(study, FIRST_CUBE, SOURCE), write=False))
    assert "none of the right objects is within reach there" in text
    assert "It saw cube_1_1 there, which is not what was asked for, and went to it." in text
    assert "There was no pick." in text
    assert re.search(r"cube_0_0: \d\.\d\d m over the floor \(not within 0.85 m\)", text)


def test_a_pick_that_failed_shows_how_far_it_got(study: Study):
    toml = study.folder / "study.toml"
    toml.write_text(toml.read_text() + "\n[judge]\nlift_m = 0.5\n")
    study = find_study("rooms")
    run_here(study, "stage_c", "rollout_rewards")
    text = text_of(html_of(study, plan_of(study, SECOND_CUBE)))
    assert "failure: not lifted" in text
    assert "was never off its place by the robot alone" in text
    assert "lifted from 50.0 cm on" in text


def test_what_was_lifted_instead_is_named_and_plotted(study: Study):
    """Two cubes lie on one table, and the robot takes the first."""
    html = html_of(study, plan_of(study, THIRD_CUBE), write=False)
    assert "The robot lifted an object, but not one that was asked for." in html
    assert "though it should have stayed: cube_1_1" in html
    assert "cube_1_1, what the robot went for" in html and "cube_2_1, right" in html


def test_a_place_that_does_not_exist_has_no_base_but_a_reason(study: Study):
    html = html_of(study, plan_of(study, THIRD_CUBE, SOURCE), write=False)
    assert "a room that this house does not have" in html
    assert 'href="#base"' not in html.split("</ul>")[0]
    assert "no room &#39;attic&#39; in this house" in html


def test_what_asks_for_reaching_only_has_no_pick_to_show(study: Study):
    text = text_of(html_of(study, plan_of(study, CUBE_ON_FLOOR), write=False))
    assert "The question asks for no more." in text and "The question asks for no pick." in text
    assert "There is no rollout of this plan" in text and "The verdict" not in text


def test_several_places_are_numbered(study: Study):
    html = html_of(study, plan_of(study, CUBE_ON_FLOOR, SOURCE), write=False)
    [drawing] = re.findall(r'<svg class="drawing floor-plan".*?</svg>', html, re.DOTALL)
    assert re.findall(r'<text class="number"[^>]*>(\d)</text>', drawing) == ["1", "2"]
    assert "in this order" in html


def test_everybodys_answers_are_on_the_page_with_links(study: Study):
    plan = plan_of(study, FIRST_CUBE)
    html = html_of(study, plan, write=False)
    other = plan_of(study, FIRST_CUBE, SOURCE)
    [mine] = re.findall(r'<tr class="this".*?</tr>', html, re.DOTALL)[:1]
    assert "this page" in mine
    links = [unquote(link) for link in re.findall(r'<a href="([^"]*)"', html)]
    assert f"{other.key}.html" in links
    abstained = text_of(html_of(study, plan_of(study, SECOND_CUBE), write=False))
    assert "abstained" in abstained
    nothing = text_of(html_of(study, plan_of(study, BALL), write=False))
    assert "no usable answer invalid: no answer The source gave no answer that can be used." in nothing


def test_who_said_nothing_about_the_episode_is_not_on_its_pages():
    said, silent = Cell("a", "e", "q0", False, plan="p"), Cell("b", "e", "q0", False, invalid=Reason.NO_ANSWER)
    partly = Cell("a", "e", "q1", False, invalid=Reason.NO_ANSWER)
    assert heard([said, silent, partly]) == [said, partly]


def test_names_are_escaped(study: Study):
    for page in plan_pages(study, EPISODE).iterdir():
        body = page.read_text().split("</style>")[1]
        assert "<b>__0" not in body and "<seen>" not in body and "<i>ball" not in body
    assert "&lt;i&gt;ball&lt;/i&gt; &amp; &#34;go&#34;" in html_of(study, plan_of(study, BALL), write=False)


# What is missing


def test_what_has_not_run_is_said(fresh: Study):
    text = text_of(html_of(fresh, plan_of(fresh, FIRST_CUBE)))
    assert "This plan has not been run." in text
    assert "No floor plan: gate G0 has not run on the episode as it is now." in text
    assert "Stage B has not run." in text
    assert "Nothing has been run." in text
    assert "cube_0_0 table, room 0" in text, "the truth, as the questions' file has it"


def test_what_is_invalid_is_the_harnesss_fault(fresh: Study):
    run_here(fresh, "g0_spike")
    plan = plan_of(fresh, FIRST_CUBE)
    set_line(fresh, "stage_b", plan.key, Outcome.INVALID, Reason.WORKER_CRASHED, "signal 9")
    text = text_of(html_of(fresh, plan))
    assert "invalid: worker crashed" in text
    assert "That is the harness's fault" in text
    assert "signal 9" in text
    assert "Floor plan of the house" in text


def test_a_scene_that_broke_a_worker_is_not_built_again(fresh: Study, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sbench_dag.reports.house.World", lambda *_: pytest.fail("was built"))
    set_line(fresh, "g0_spike", EPISODE, Outcome.INVALID, Reason.WORKER_CRASHED, "signal 11")
    text = text_of(html_of(fresh, plan_of(fresh, FIRST_CUBE)))
    assert "No floor plan: gate G0 could not build its scene (signal 11)." in text


def test_a_house_that_is_not_the_episodes_is_shown_as_such(fresh: Study):
    set_line(fresh, "g0_spike", EPISODE, Outcome.INVALID, Reason.G0_FAILED, "fingerprint differs")
    text = text_of(html_of(fresh, plan_of(fresh, FIRST_CUBE)))
    assert "the rebuilt house is not the one in which the episode ended. This is what was rebuilt." in text


def test_a_scene_that_cannot_be_built_costs_the_floor_plan_only(study: Study, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> World:
        raise ValueError("no <mesh>")

    monkeypatch.setattr("sbench_dag.reports.house.World", broken)
    html = html_of(study, plan_of(study, SECOND_CUBE))
    assert "No floor plan: the scene can&#39;t be built (ValueError: no &lt;mesh&gt;)." in html
    assert "lift-chart" in html
    assert "No floor plan" in episode_page(study, EPISODE).read_text()


@pytest.mark.parametrize("content", [b"", b"PK damaged", None], ids=["empty", "damaged", "missing"])
def test_a_damaged_trace_is_said(study: Study, content: bytes | None):
    plan = plan_of(study, SECOND_CUBE)
    row = Results(study).of("stage_c")[plan.key].row
    trace, video = study.folder / row["trace"]["file"], study.folder / row["video"]["file"]
    video.unlink()
    trace.unlink() if content is None else trace.write_bytes(content)
    html = html_of(study, plan)
    assert "missing or damaged" in html and "lift-chart" not in html.split("</style>")[1]
    assert "The video is missing" in html
    assert "The verdict" in html


def test_a_study_without_videos_says_so(study: Study):
    toml = study.folder / "study.toml"
    toml.write_text(toml.read_text().replace("enabled = true", "enabled = false"))
    study = find_study("rooms")
    run_here(study)
    html = html_of(study, plan_of(study, SECOND_CUBE))
    assert "The study films nothing" in html and "<video" not in html


# Writing


def test_pages_carry_the_version_of_their_episode_and_are_small(study: Study):
    version = episode_version(study, EPISODE, Results(study).look)
    written = [*plan_pages(study, EPISODE).iterdir()]
    assert len(written) == len(study.manifest.plans)
    assert {written_version(page) for page in [*written, episode_page(study, EPISODE)]} == {version}
    assert max(page.stat().st_size for page in written) < 120_000


@pytest.mark.parametrize("after", [0, 3, 7])
def test_a_report_that_was_killed_is_written_whole_by_the_next(
    study: Study, monkeypatch: pytest.MonkeyPatch, after: int
):
    shutil.rmtree(study.reports)
    written: list[Path] = []

    def dying(file: Path, content: str) -> None:
        if len(written) == after:
            raise KeyboardInterrupt
        written.append(file)
        file.write_text(content)

    with monkeypatch.context() as patch:
        patch.setattr(pages, "write_whole", dying)
        patch.setattr(pages, "_WRITERS", 1)
        with pytest.raises(KeyboardInterrupt):
            write_episode(Results(study), EPISODE)
    assert written_version(episode_page(study, EPISODE)) is None, "nothing says that it is done"
    assert main(["report", "--study", "rooms"]) == 0
    assert len([*plan_pages(study, EPISODE).iterdir()]) == len(study.manifest.plans)
    assert written_version(episode_page(study, EPISODE)) == episode_version(study, EPISODE, Results(study).look)


def test_unchanged_pages_are_left_alone_and_no_world_is_built(study: Study, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sbench_dag.reports.house.World", lambda *_: pytest.fail("was built"))
    before = {page: page.stat().st_mtime_ns for page in (study.reports / "episodes").rglob("*.html")}
    assert main(["report", "--study", "rooms"]) == 0
    assert {page: page.stat().st_mtime_ns for page in (study.reports / "episodes").rglob("*.html")} == before


def test_the_page_of_a_plan_that_is_gone_disappears(study: Study):
    gone = plan_of(study, FIRST_CUBE, SOURCE)
    assert plan_page(study, EPISODE, gone.key).exists()
    say(study.dataset.root, {FIRST_CUBE: [("room 0", "shelf")]})
    assert study.refresh_manifest()
    study = find_study("rooms")
    write_episode(Results(study), EPISODE)
    assert not plan_page(study, EPISODE, gone.key).exists()
    assert {page.stem for page in plan_pages(study, EPISODE).iterdir()} == {plan.key for plan in study.manifest.plans}


def test_an_abstention_is_another_version_of_the_page(study: Study):
    """It is no plan's, but stands among everybody's answers."""
    before = episode_version(study, EPISODE, Results(study).look)
    places = {FIRST_CUBE: [("room 1", "table")], THIRD_CUBE: [("attic", "table")]}
    say(study.dataset.root, {**places, CUBE_ON_FLOOR: [("room 1", "floor"), ("room 0", "floor")]})
    study.refresh_manifest()
    study = find_study("rooms")
    assert {plan.key for plan in study.manifest.plans} == {page.stem for page in plan_pages(study, EPISODE).iterdir()}
    assert episode_version(study, EPISODE, Results(study).look) != before


def test_a_manifest_of_an_older_version_has_pages_too(study: Study):
    file = study.manifest_folder / "episodes.json"
    about = json.loads(file.read_text())
    del about["answers"]
    file.write_text(json.dumps(about))
    assert "cube_0_0" in html_of(find_study("rooms"), plan_of(study, FIRST_CUBE))


# In a browser


@pytest.fixture
def requests(page: Page) -> list[str]:
    """What the browser asked for."""
    found: list[str] = []

    def note(request: Request) -> None:
        found.append(request.url)

    page.on("request", note)
    return found


def targets(page: Page, selector: str, attribute: str) -> list[Path]:
    """The files that elements point to."""
    links = page.eval_on_selector_all(selector, f"all => all.map(one => one.{attribute})")
    return [Path(unquote(urlsplit(link).path)) for link in links]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_fit_and_need_no_network(
    page: Page, page_errors: list[str], requests: list[str], study: Study, width: int, scheme: str
):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    shown = [plan_of(study, SECOND_CUBE), plan_of(study, CUBE_ON_FLOOR, SOURCE), plan_of(study, THIRD_CUBE, SOURCE)]
    for file in (episode_page(study, EPISODE), *(plan_page(study, EPISODE, plan.key) for plan in shown)):
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), file
    assert page_errors == []
    assert {urlsplit(url).scheme for url in requests} == {"file"}


def test_text_in_drawings_can_be_read_on_a_phone(page: Page, study: Study):
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(plan_page(study, EPISODE, plan_of(study, SECOND_CUBE).key).as_uri())
    sizes = page.eval_on_selector_all(
        "svg.drawing text:not(.number)",
        """all => all.map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)""",
    )
    assert sizes and min(sizes) >= 9.5


def test_links_lead_to_files_and_rows_have_their_anchors(page: Page, study: Study):
    page.goto(episode_page(study, EPISODE).as_uri())
    (study.reports / "index.html").touch()
    found = targets(page, "a", "href")
    assert {plan_page(study, EPISODE, plan.key) for plan in study.manifest.plans} <= set(found)
    assert all(file.exists() for file in [*found, *targets(page, "video", "src")])
    for plan in study.manifest.plans:
        assert page.evaluate("key => document.getElementById(key) !== null", plan.key)
        page.goto(plan_page(study, EPISODE, plan.key).as_uri())
        assert all(file.exists() for file in [*targets(page, "a", "href"), *targets(page, "video", "src")])
        assert page.locator("nav a").last.get_attribute("href") is not None
        page.locator("nav a").last.click()
        assert page.evaluate("decodeURIComponent(location.hash.slice(1))") == plan.key


def test_the_main_page_can_link_to_a_plan(study: Study):
    plan = plan_of(study, FIRST_CUBE)
    assert study.reports / unquote(plan_href(EPISODE, plan.key)) == plan_page(study, EPISODE, plan.key)
    assert "#" not in plan_href(EPISODE, plan.key)


def test_drawings_have_titles_for_those_who_cannot_see_them(study: Study):
    for file in (episode_page(study, EPISODE), *plan_pages(study, EPISODE).iterdir()):
        for drawing in re.findall(r"<svg[^>]*>\s*<?\w*", file.read_text()):
            assert 'aria-hidden="true"' in drawing or drawing.endswith("<title"), (file, drawing)


def colours() -> dict[str, tuple[str, str]]:
    """The variables of the style sheets: light, dark."""
    css = (TEMPLATES / "base.html").read_text() + (TEMPLATES / "drawing.css").read_text()
    return {name: (a, b) for name, a, b in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)}


def contrast(first: str, second: str) -> float:
    """As WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_have_enough_contrast(scheme: int):
    known = {name: pair[scheme] for name, pair in colours().items()}
    for text in ("ink", "soft", "good", "bad", "warn"):
        for ground in ("page", "card", "floor"):
            assert contrast(known[text], known[ground]) >= 4.5, (text, ground)
    assert contrast(known["halo"], known["route"]) >= 4.5, "a number on the robot"
    for graphic in ("good", "route", "warn", "wall", "soft"):
        for ground in ("page", "floor"):
            assert contrast(known[graphic], known[ground]) >= 3, (graphic, ground)
    for mark in ("good", "route", "warn", "soft"):
        assert contrast(known[mark], known["thing"]) >= 3, mark
