"""``lessons lab`` as a newcomer finds it: a page of all lessons, own copies, the table of contents,
nothing in the way.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator

import pytest

from lessons_lib.classroom.start_page import PAGE
from lessons_lib.lesson.course import Course

from .conftest import browser_missing
from .lab import AS_ROOT, Server, free_port, private_environment
from .pages import PATIENCE, SCRIPT, LessonPage, Requests

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
    made.first, made.page = (f"{url}/lab/tree/{name}?token={token}" for name in (TITLE, PAGE))
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
                                     "glossary.ipynb", PAGE])
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
    assert [path.name for path in (server.folder / "work").glob("*.md")] == [PAGE]
    assert (lesson.notebook.read_bytes(), lesson.path.read_bytes()) == before
    assert page.crashes == []


def test_by_keyboard_from_the_first_page_to_own_sentences_in_the_first_minute(server, browser,
                                                                             pictures):
    window = browser.new_context(viewport={"width": 1366, "height": 768})
    window.set_default_timeout(PATIENCE)
    requests = Requests(window)
    page = window.new_page()
    page.add_init_script(path=SCRIPT)
    page.goto(server.page)
    begin = page.locator(".jp-MarkdownViewer a", has_text="Type some sentences")
    begin.wait_for()
    page.wait_for_timeout(1000)
    page.screenshot(path=pictures / "start_page.png")
    begin.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("window.notebook.panel()?.content?.widgets?.length > 9 "
                           "&& notebook.ready()")
    page.evaluate("mark => notebook.choose(mark)", "start_here_play")
    page.keyboard.press("Control+Enter")
    box = page.locator(".jp-OutputArea textarea")
    box.wait_for()
    page.wait_for_function("notebook.ready()")
    page.screenshot(path=pictures / "play.png")
    before = page.evaluate("mark => notebook.picture(mark)", "start_here_play")
    box.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n我喜欢猫")
    page.wait_for_function("pair => notebook.changed(pair)", arg=["start_here_play", before])
    page.screenshot(path=pictures / "play_typed.png")
    said = page.evaluate("mark => notebook.cells().find((cell) => cell.source.includes(mark))"
                         ".outputs.map((one) => one.data?.['text/plain'] ?? '').join()",
                         "start_here_play")
    assert said.count("none") == 3, "Chinese has no vector here, and each encoder says so"
    assert requests.outside() == []
