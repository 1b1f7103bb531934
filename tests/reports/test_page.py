"""The summary in a real browser: from disk, without network, in any width and light, and as printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page

from benchmarks.answered_study import SOURCES, answered_study, store_outcomes
from sbench_dag.cli import main
from sbench_dag.manipulation.video import VideoWriter
from sbench_dag.reports.episode_page import write_episode
from sbench_dag.reports.grid import Results, make_grid
from sbench_dag.reports.page import write_summary
from sbench_dag.reports.versions import SUMMARY_PAGE, written_version
from sbench_dag.study import Study

SIX_MB = 6_000_000
# the colour of every text against what is painted behind it, as WCAG 2 compares them
CONTRASTS = """
() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const paint = canvas.getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] / 255 + below[i] * (1 - top[3] / 255));
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest('script, style') || !element.getClientRects().length) continue;
    const style = getComputedStyle(element), background = behind(element);
    const ink = element.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(over(rgba(ink), background)), light(background)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${node.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return bad;
}
"""


# [href, text of the cell that the link stands in, how many answers the page then lists]
FOLLOW = """
async (selector) => {
  const dialog = document.querySelector('#cells'), found = [];
  for (const link of document.querySelectorAll(selector)) {
    await new Promise((done) => { window.addEventListener('hashchange', done, { once: true }); link.click(); });
    if (!dialog.open) throw new Error(`${link.href} opens nothing`);
    const listed = dialog.querySelector('h2').textContent.split(' ')[0];
    found.push([link.href, link.closest('td').innerText, listed]);
    await new Promise((done) => { dialog.addEventListener('close', done, { once: true }); dialog.close(); });
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """Sixty queries in six houses, ten sources, every kind of failure; its page is written. Don't change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBENCH_HOME", str(tmp_path_factory.mktemp("answered")))
        study = answered_study("answered", 60)
        store_outcomes(study)
        film(study)
        write_summary(Results(study))
        yield study


def film(study: Study) -> None:
    """Every plan's video: the same two frames."""
    shot = study.videos / "shot.mp4"
    writer = VideoWriter(shot, 64, 64)
    for _ in range(2):
        writer.write(np.zeros((64, 64, 3), dtype=np.uint8))
    writer.close()
    for plan in study.manifest.plans:
        (study.videos / f"{plan.key}.mp4").hardlink_to(shot)


@pytest.fixture
def opened(study: Study, page: Page) -> Page:
    page.goto(file_of(study).as_uri())
    return page


def file_of(study: Study) -> Path:
    return study.reports / SUMMARY_PAGE


def overflow(page: Page) -> int:
    """Pixels that the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_it_opens_from_disk_and_asks_for_nothing_else(study: Study, page: Page, page_errors: list[str]):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = file_of(study)
    page.goto(file.as_uri())
    page.wait_for_load_state("networkidle")
    videos = study.videos.as_uri()
    assert [url for url in asked if url != file.as_uri() and not url.startswith(videos)] == []
    assert page_errors == []


def test_the_first_screen_says_who_wins_by_how_much_how_sure_and_what_is_lost(opened: Page, study: Study):
    head = make_grid(Results(study))["headline"]
    cards = [card.inner_text() for card in opened.locator(".card").all()]
    assert [card.splitlines()[0] for card in cards] == [
        "Who leads",
        "By how much",
        "How sure is that",
        "Where the rest is lost",
    ]
    assert head["leaders"][0] in cards[0]
    assert f"{100 * head['rate']['rate']:.1f} %" in cards[0]
    assert head["runner_up"]["b"] in cards[1]
    assert f"{100 * head['runner_up']['detectable']:.0f} points" in cards[2]
    assert f"{head['lost']['not lifted']} not lifted" in cards[3]
    box = opened.locator(".cards").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800, "above the fold"


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_width_overflows(opened: Page, width: int):
    opened.set_viewport_size({"width": width, "height": 740})
    opened.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert overflow(opened) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(opened: Page, scheme):
    opened.emulate_media(color_scheme=scheme)
    opened.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert opened.evaluate(CONTRASTS) == []


def test_a_text_that_does_not_stand_out_is_found(page: Page):
    page.set_content("<p style='color: #999; background: #aaa'>pale</p><p>plain</p>")
    [found] = page.evaluate(CONTRASTS)
    assert found.startswith("pale")


def test_its_numbers_are_the_grids(opened: Page, study: Study, capsys: pytest.CaptureFixture[str]):
    """Those of the heat maps: rate, interval and count of every source."""
    assert main(["grid", "--json"]) == 0
    grid = json.loads(capsys.readouterr().out)
    maps = opened.locator("table.heat").all()
    assert len(maps) == 2
    for table, metric in zip(maps, ("sr_c", "sr_b"), strict=True):
        shown = {" ".join(cell.inner_text().split()) for cell in table.locator("td.h").all()}
        rates = [cell[metric] for cell in grid["cells"]]
        assert shown == {
            f"{100 * r['rate']:.1f} % [{100 * r['low']:.0f}, {100 * r['high']:.0f}] {r['count']}/{r['planned']}"
            for r in rates
        }


def test_every_linked_number_is_as_many_answers_as_it_says(opened: Page, study: Study):
    """Of the heat maps, of outcomes, of the decomposition and of rollouts' labels. A rate's count is before its `/`."""
    found = opened.evaluate(FOLLOW, "table.heat a, #why td a.n, #lost td.rate a, #rewards td a.n")
    for href, cell, listed in found:
        wanted = cell.split("/")[0].split()[-1] if "/" in cell else cell
        assert listed == wanted, href
    assert len(found) > 6 * len(SOURCES)
    labels = make_grid(Results(study))["labels"].values()
    assert [cell for href, cell, _ in found if "rollout=" in href] == [str(count) for count in labels]


def test_a_pair_leads_to_the_queries_that_only_one_of_them_succeeded_at(opened: Page, study: Study):
    pair = next(p for p in make_grid(Results(study))["pairs"] if p["metric"] == "sr_c" and p["only_a"])
    opened.evaluate("([a, b]) => { location.hash = `#cells?won=${a}&lost=${b}&metric=sr_c` }", [pair["a"], pair["b"]])
    opened.wait_for_function("() => document.querySelector('#cells').open")
    assert opened.locator("#cells h2").inner_text().split()[0] == str(pair["only_a"])
    assert opened.locator("#cells tbody tr").count() == pair["only_a"]


def test_an_answer_leads_to_its_plans_page_and_its_video(opened: Page, study: Study):
    plan = next(p for p in study.manifest.plans if p.is_oracle and p.scoring == "lifted")
    opened.goto(f"{opened.url}#cells?plan={plan.key}&source=oracle-loc")
    opened.wait_for_function("() => document.querySelector('#cells').open")
    hrefs = opened.locator("#cells tbody a").evaluate_all("(links) => links.map((a) => a.href)")
    assert hrefs == [
        (study.reports / "episodes" / plan.episode / f"{plan.key}.html").as_uri(),
        (study.videos / f"{plan.key}.mp4").as_uri(),
    ]


def test_every_link_leads_to_a_file_that_is_there(opened: Page, study: Study):
    results = Results(study)
    for episode in study.manifest.episodes:
        write_episode(results, episode)
    hrefs = opened.locator("a:not(svg a)").evaluate_all("(links) => links.map((a) => a.href.split('#')[0])")
    videos = opened.locator("video").evaluate_all("(videos) => videos.map((v) => v.src)")
    missing = [url for url in {*hrefs, *videos} if not Path(unquote(urlsplit(url).path)).is_file()]
    assert len(set(hrefs)) > len(study.manifest.episodes)
    assert videos
    assert missing == []


def test_a_bar_of_a_figure_is_a_link_like_any_number(opened: Page):
    hrefs = opened.locator("svg a").evaluate_all("(links) => links.map((a) => a.href.baseVal)")
    assert hrefs
    assert all(href.startswith("#cells?source=") for href in hrefs)


def test_print_shows_everything_and_nothing_that_only_a_screen_needs(opened: Page):
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 1046, "height": 718})  # A4 at 96 dpi, lying, less its margins
    assert overflow(opened) <= 0
    cut = opened.evaluate(
        "() => [...document.querySelectorAll('table, svg')]"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1)"
        ".map((e) => e.closest('section')?.id)"
    )
    assert cut == []
    hidden = opened.locator("details table").first
    assert hidden.evaluate("(e) => e.getBoundingClientRect().height") > 0, "closed details are open on paper"
    assert not opened.locator("#cells").is_visible()


def test_what_a_text_says_is_no_markup(home: Path, page: Page, page_errors: list[str]):
    evil = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    study = answered_study("answered", 10, (f"{evil}/model", "other/model"))
    store_outcomes(study)
    page.goto(write_summary(Results(study)).as_uri())
    page.evaluate("(s) => { location.hash = '#cells?' + new URLSearchParams({ source: s }) }", f"{evil}/model")
    page.wait_for_function("() => document.querySelector('#cells').open")
    assert page.locator("#cells tbody tr").count() == 10
    assert page.evaluate("window.hacked") is None


def test_a_repeat_makes_the_page_out_of_date_and_is_on_the_next_one(home: Path, page: Page):
    study = answered_study("answered", 10, SOURCES[:2])
    store_outcomes(study)
    assert "has not been measured" in write_summary(Results(study)).read_text()
    before = written_version(file_of(study))
    repeat = study.flips / "20261130T000000Z" / "result.json"
    repeat.parent.mkdir(parents=True)
    verdict = {"verdict": "lifted_held", "flips": 1, "n": 4, "rate": 0.25, "low": 0.05, "high": 0.7}
    said = {"common": "other", "finished": 1.0, "sampled": 4, "verdicts": [verdict], "flipped": [], "invalid": []}
    repeat.write_text(json.dumps(said))
    page.goto(write_summary(Results(study)).as_uri())
    text = page.inner_text("#flips")
    assert "4 picks were done again, with settings or code that are not today's" in text
    assert "lifted held 1 of 4 (25.0 % [5.0, 70.0])" in text
    assert written_version(file_of(study)) != before


class TestEdges:
    """Stores that have hardly anything in them, and one with much."""

    def test_no_plans(self, home: Path, page: Page, page_errors: list[str]):
        page.goto(write_summary(Results(answered_study("empty", 0))).as_uri())
        assert "There are no queries" in page.inner_text("body")
        assert page_errors == []

    def test_nothing_run(self, home: Path, page: Page, page_errors: list[str]):
        page.goto(write_summary(Results(answered_study("fresh", 20, ("a/x",)))).as_uri())
        assert page_errors == []
        assert "not run" in page.inner_text("#why")

    def test_only_invalid_plans(self, home: Path, page: Page, page_errors: list[str]):
        study = answered_study("invalid", 20, SOURCES[:2])
        store_outcomes(study, invalid=True)
        page.goto(write_summary(Results(study)).as_uri())
        cell = make_grid(Results(study))["cells"][0]
        assert (cell["source"], cell["invalid"], cell["sr_b"]["count"]) == ("oracle-loc", 20, 0)
        assert (cell["sr_b"]["rate"], cell["sr_b"]["best"], cell["sr_b"]["rate_completed"]) == (0, 1, None)
        assert "invalid: worker crashed" in page.inner_text("#why")
        assert page_errors == []

    def test_one_source_in_one_house(self, home: Path, page: Page, page_errors: list[str]):
        study = answered_study("one", 10, ("alone/model",))
        store_outcomes(study)
        film(study)
        page.goto(write_summary(Results(study)).as_uri())
        text = page.inner_text("body")
        assert "there is no second source" in text
        assert "Where all queries come from one house, the interval knows of no other" in text
        assert page_errors == []

    def test_ten_sources_of_1470_queries(self, home: Path, page: Page, page_errors: list[str]):
        """benchmarks/report.py has the time."""
        study = answered_study("large", 1470)
        store_outcomes(study)
        film(study)
        file = write_summary(Results(study))
        assert file.stat().st_size < SIX_MB
        page.goto(file.as_uri())
        page.evaluate("() => { location.hash = '#cells?source=oracle-loc' }")
        page.wait_for_function("() => document.querySelector('#cells').open")
        assert page.locator("#cells h2").inner_text() == "1470 answers"
        assert page.locator("#cells tbody tr").count() == 100
        page.click("#cells button.more")
        assert page.locator("#cells tbody tr").count() == 200
        assert "cluster bootstrap" in page.inner_text("#grid")
        assert page_errors == []
