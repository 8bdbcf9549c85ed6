"""A browser for the tests that need one; where there is none, they are skipped with the reason."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lessons_lib.lesson.course import Course
from lessons_lib.locking import install_line
from lessons_lib.publish.web.printing import BROWSERS, NO_NAMES, find_chromium

from .lab import Lab
from .pages import PATIENCE, Requests


def browser_missing() -> str | None:
    """Why there can be no test in a browser, and what to do; None where all is there."""
    if find_chromium() is None:
        return (f"no browser: none of {', '.join(BROWSERS)} is on the path; install one, such as "
                "by apt-get install chromium")
    if importlib.util.find_spec("playwright") is None:
        return f"playwright is not installed: {install_line('browser')}"
    return None


@pytest.fixture
def browser() -> Iterator[Any]:
    """Headless Chromium, for one test only: Playwright's event loop must meet no other."""
    if reason := browser_missing():
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), headless=True,
                                              chromium_sandbox=not root, args=[NO_NAMES])
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A window without a past; ``context.requests`` is what its pages ask for."""
    window = browser.new_context(viewport={"width": 1280, "height": 900})
    window.set_default_timeout(PATIENCE)
    window.requests = Requests(window)
    yield window
    window.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab for all lessons; each opens with a kernel of its own."""
    if reason := browser_missing():
        pytest.skip(reason)
    server = Lab(tmp_path_factory.mktemp("lab"), [card.id for card in Course().cards()])
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go: LESSONS_TEST_SCREENSHOTS, else a folder of the test."""
    folder = Path(os.environ.get("LESSONS_TEST_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
