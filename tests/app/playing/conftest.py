"""A browser for the tests of the page: one for each module, started when the first test asks for it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@pytest.fixture(scope="module")
def browser():
    """Return a Chromium without a window."""
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    if not found:
        pytest.skip("no Chromium is installed, in which the page is tried")
    playing = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed, which drives the browser")
    with playing.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found[0], args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


def wait_for(page, condition, seconds=60.0):
    """Wait until a condition of JavaScript is true. The page's policy forbids what Playwright's own way would do."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"it never came to be: {condition}"
        page.wait_for_timeout(20)


@pytest.fixture
def open_page(browser):
    """Return a context manager that opens an address; what the page complains about in its console is an error."""

    @contextmanager
    def opened(address, *, size=(1280, 800), dark=False, offline=False, quiet=False) -> Iterator:
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=offline, accept_downloads=True
        )
        page = context.new_page()
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        try:
            page.goto(address)
            yield page
        finally:
            context.close()
        assert quiet or complaints == []

    return opened
