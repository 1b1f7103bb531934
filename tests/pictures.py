"""The documentation's pictures of pages: taken again with UPDATE_SCREENSHOTS=1, otherwise left alone."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

DOCS = Path(__file__).parents[1] / "docs"
MAX_BYTES = 200_000


def picture(page: Page, name: str, height: int | None = None) -> None:
    """docs/<name>.png: what the page shows, or the upper `height` pixels of it."""
    if os.environ.get("UPDATE_SCREENSHOTS") != "1":
        return
    size = page.viewport_size
    assert size is not None
    clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"]}
    shot = page.screenshot(path=DOCS / f"{name}.png", clip=clip, animations="disabled")  # type: ignore[arg-type]
    assert len(shot) < MAX_BYTES, f"{name}.png has {len(shot)} bytes, more than {MAX_BYTES}; show less of the page"
