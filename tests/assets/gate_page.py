"""A gate in Dagster's UI, as an operator sees and clicks it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from playwright.sync_api import Locator, Page, expect

from tests.pictures import picture

CLICK_S, RUN_S = 60.0, 300.0
BUTTONS = ("All", "Failed", "Missing", "Failed and missing")
STATUSES = ("Failed", "Materialized", "Materializing", "Missing")


class GatePage:
    """The Partitions tab of a gate's asset. A click has CLICK_S to show its effect, a run RUN_S."""

    def __init__(self, page: Page, port: int, study: str, gate: str):
        self.page = page
        self._server, self._asset = f"http://127.0.0.1:{port}", f"{study}/{gate}"
        page.set_default_timeout(1000 * CLICK_S)

    def open(self) -> None:
        self.page.goto(f"{self._server}/assets/{self._asset}?view=partitions")

    def materialize(self, choice: str, count: int, show: str = "") -> None:
        """Materialize..., then one of the dialog's buttons (`All`, `Failed`, ...), or what a name that is none of them
        is part of; launched when the dialog says that these are `count` partitions. show: its picture's name."""
        self.page.get_by_role("button", name="Materialize…").click()
        dialog = self.page.get_by_role("dialog").filter(has_text="Partition selection")
        if choice in BUTTONS:
            dialog.get_by_role("button", name=choice, exact=True).click()
        else:
            self._pick(dialog, choice, count)
        self._sees(dialog.get_by_text(f"{count} partitions", exact=True))
        if show:
            picture(self.page, show)
        dialog.get_by_role("button", name="Launch").click()
        expect(dialog).to_be_hidden(timeout=1000 * CLICK_S)

    def shows(self, show: str = "", **counts: int) -> None:
        """Waits until the tab counts so many partitions as Failed, Materialized, ...; of the other statuses none."""
        for status in STATUSES:
            self._sees(self.page.get_by_text(f"{status} ({counts.get(status, 0)})", exact=True), RUN_S)
        if show:
            picture(self.page, show, height=400)

    def says(self, text: str, show: str) -> None:
        """Of the selected partition."""
        self._sees(self.page.get_by_text(text))
        picture(self.page, show, height=400)

    def lists(self, status: str, keys: Collection[str], among: Iterable[str]) -> None:
        """Waits until exactly these partitions are listed when only one status is ticked. None may be selected."""
        others = [other for other in STATUSES if other != status]
        for other in others:
            self._tick(other)
        for key in among:
            listed = self.page.get_by_text(key, exact=True).first
            expect(listed).to_be_visible(visible=key in keys, timeout=1000 * CLICK_S)
        for other in others:
            self._tick(other)

    def select(self, partition: str) -> None:
        self.page.get_by_text(partition, exact=True).first.click()

    def _tick(self, status: str) -> None:
        self.page.get_by_text(re.compile(rf"^{status} \(\d+\)$")).click()

    def _pick(self, dialog: Locator, pattern: str, count: int) -> None:
        """In the list of partitions. What the dialog has chosen by itself is dropped first."""
        dialog.get_by_role("button", name="Failed", exact=True).click()
        dialog.get_by_text("Select a partition").click()
        self.page.get_by_placeholder("Filter partitions").fill(pattern)
        self.page.get_by_role("menuitem", name=f"Select all ({count})").click()
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_placeholder("Filter partitions")).to_be_hidden(timeout=1000 * CLICK_S)

    def _sees(self, what: Locator, seconds: float = CLICK_S) -> None:
        expect(what.first).to_be_visible(timeout=1000 * seconds)


def re_execute_from_failure(gate: GatePage, show: str = "") -> None:
    """Of the run that failed the selected partition; returns when the new run has succeeded."""
    page = gate.page
    failed = page.get_by_text("failed, and did not materialize this asset").locator("..").get_by_role("link")
    failed.click()
    page.wait_for_url("**/runs/*")
    old = page.url
    expect(page.get_by_text("Errored (1)")).to_be_visible(timeout=1000 * CLICK_S)  # its log has been read
    page.get_by_role("button", name="Re-execute").locator("..").get_by_role("button", name="arrow_drop_down").click()
    expect(page.get_by_role("menuitem", name="From failure")).to_be_enabled(timeout=1000 * CLICK_S)
    if show:
        picture(page, show, height=340)
    page.get_by_role("menuitem", name="From failure").click()
    page.get_by_role("dialog").get_by_role("button", name="Confirm").click()  # the backfill's own status stays
    page.wait_for_url(lambda url: "/runs/" in url and url != old)
    expect(page.get_by_text("Success", exact=True).first).to_be_visible(timeout=1000 * RUN_S)
