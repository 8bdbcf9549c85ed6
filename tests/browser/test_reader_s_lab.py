"""``lessons lab`` as a newcomer finds it: own copies, the table of contents, nothing in the way."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator

import pytest

from lessons_lib.lesson.course import Course

from .conftest import browser_missing
from .lab import AS_ROOT, Server, free_port, private_environment
from .pages import PATIENCE, LessonPage

pytestmark = pytest.mark.slow
TITLE = "00_start_here.ipynb"


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    """The command, started by somebody who never started JupyterLab before."""
    if reason := browser_missing():
        pytest.skip(reason)
    port, token = free_port(), secrets.token_hex(16)
    url = f"http://127.0.0.1:{port}"
    environment = private_environment(
        tmp_path, JUPYTER_TOKEN=token, LESSONS_WORK=str(tmp_path / "work"),
        JUPYTERLAB_SETTINGS_DIR=str(tmp_path / "no settings"))
    made = Server([sys.executable, "-m", "lessons_lib", "lab", "--no-browser",
                   f"--ServerApp.port={port}", "--expose-app-in-browser", *AS_ROOT], tmp_path,
                  url=url, ready=f"{url}/api/status?token={token}", environment=environment)
    made.first = f"{url}/lab/tree/{TITLE}?token={token}"
    try:
        made.wait()
        yield made
    finally:
        made.stop()


def test_a_newcomer_finds_the_contents_of_a_copy_and_the_clone_stays_as_it_was(
        server, browser, pictures):
    lesson = Course().card("start_here")
    before = lesson.notebook.read_bytes(), lesson.path.read_bytes()
    window = browser.new_context(viewport={"width": 1366, "height": 768})
    window.set_default_timeout(PATIENCE)
    page = LessonPage(window.new_page(), server.first)
    page.page.wait_for_function(
        "document.querySelector('.jp-TableOfContents-tree')?.checkVisibility()")
    page.page.wait_for_timeout(2000)             # a question would be asked by now
    page.keep_screenshot(pictures, "first_window")
    assert page.page.query_selector(".Toastify__toast") is None
    listed = page.page.evaluate(
        "async () => { const made = jupyterapp.serviceManager.contents; "
        "return (await made.get('')).content.map((one) => one.name); }")
    assert sorted(listed) == sorted([*(card.notebook.name for card in Course().cards()),
                                     "glossary.ipynb"])
    page.page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', "
                       "{theme: 'JupyterLab Dark'})")
    page.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.scroll_to('id="start_here_pair"')
    turned = page.page.evaluate(
        "mark => [...notebook.find(mark).node.querySelectorAll('.jp-OutputArea-output img')]"
        ".map((image) => getComputedStyle(image).filter)", 'id="start_here_pair"')
    page.keep_screenshot(pictures, "dark")
    assert turned and all(one.startswith("invert") for one in turned), "a white block"
    page.page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    page.page.wait_for_function("!notebook.panel().context.model.dirty")
    page.close()
    assert not list((server.folder / "work").glob("*.md"))
    assert (lesson.notebook.read_bytes(), lesson.path.read_bytes()) == before
    assert page.crashes == []
