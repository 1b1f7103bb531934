"""The fixtures of browser.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytest_plugins = ["pytester"]

PAGE = "<h1>A report</h1><style>@media print { h1 { display: none } }</style>"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "report.html"
    file.write_text(PAGE)
    return file


def test_a_file_is_shown_at_any_width_and_as_printed(page: Page, page_errors: list[str], report: Path):
    page.set_viewport_size({"width": 360, "height": 640})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.clientWidth") == 360
    expect(page.get_by_role("heading", name="A report")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_text("A report")).to_be_hidden()
    assert page_errors == []


def test_whatever_goes_wrong_in_a_page_is_noted(page: Page, page_errors: list[str], report: Path):
    report.write_text(
        "<script src='not-there.js'></script><script>console.error('said'); throw new Error('thrown')</script>"
    )
    page.goto(report.as_uri())
    for trouble in ("not-there.js", "said", "thrown"):
        assert any(trouble in error for error in page_errors), (trouble, page_errors)


def test_a_failed_test_leaves_a_picture(pytester: pytest.Pytester):
    pytester.makeconftest("from tests.browser import browser, page, page_errors")
    pytester.makepyfile(
        """
        def test_good(page):
            pass

        def test_bad(page):
            page.set_content("<h1>what was to be seen</h1>")
            assert False
        """
    )
    result = pytester.runpytest_subprocess("--basetemp=kept")
    result.assert_outcomes(passed=1, failed=1)
    assert [file.parent.name for file in pytester.path.glob("kept/*[0-9]/failed.png")] == ["test_bad0"]
