"""A real browser without a window, and a page in it.

A test that asks for `page` gets Playwright's Page: of a server, or of a file (`page.goto(path.as_uri())`), at any
width (`page.set_viewport_size`), as printed (`page.emulate_media(media="print")`). `page_errors` is what it complained
of.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # which root may not use
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_S = 30


@pytest.fixture
def browser() -> Iterator[Browser]:
    """With an empty profile. One for each test: while Playwright is there, nothing else may run an asyncio loop."""
    from playwright.sync_api import sync_playwright  # which a worker's environment does not have

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no browser: scripts/test-packages installs Chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=1000 * PATIENCE_S * 2)
        yield found
        found.close()


@pytest.fixture
def page_errors() -> list[str]:
    """What `page` says is wrong: errors on its console, exceptions of its scripts, requests that failed."""
    return []


@pytest.fixture
def page(browser: Browser, page_errors: list[str], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """1280 x 800 pixels. If the test fails, `failed.png` in its tmp_path shows what was to be seen."""
    failed_before = request.session.testsfailed
    found = browser.new_page(viewport={"width": 1280, "height": 800})
    found.set_default_timeout(1000 * PATIENCE_S)
    found.on("console", lambda message: page_errors.append(message.text) if message.type == "error" else None)
    found.on("pageerror", lambda error: page_errors.append(str(error)))
    found.on("requestfailed", lambda sent: page_errors.append(f"{sent.url}: {sent.failure}"))
    yield found
    if request.session.testsfailed > failed_before:
        found.screenshot(path=tmp_path / "failed.png")
        print(f"{found.url} looked like {tmp_path / 'failed.png'}; it complained of {page_errors or 'nothing'}")
