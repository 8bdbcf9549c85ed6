"""The site as its reader has it, opened as files: light, on a telephone, searched, asked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from lessons_lib.lesson.course import Course
from lessons_lib.publish.web.boxes import BOXES

from .conftest import browser_missing
from .pages import PATIENCE

pytestmark = pytest.mark.slow
TELEPHONE = {"width": 390, "height": 844}
MOST = {"index": 1e6, "lesson": 3e6}             # bytes of all that a page loads
READY = "() => !window.MathJax?.startup?.promise || MathJax.startup.promise.then(() => true)"
SCROLL = """async () => { for (let y = 0; y < document.body.scrollHeight; y += 400) {
    scrollTo(0, y); await new Promise(done => setTimeout(done, 5)); } }"""
# What stands out of the page and in no box that scrolls; and cards of lessons that scroll.
CUT = """() => {
    const wide = document.documentElement.clientWidth;
    const scrolls = (element) => {
        for (let box = element.parentElement; box; box = box.parentElement)
            if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)
                && box.getBoundingClientRect().right <= wide + 1) return true; };
    const card = document.querySelector("table:has(> thead th > p:empty)");
    return [document.documentElement.scrollWidth - wide,
            card && card.scrollWidth > card.parentElement.clientWidth + 1 ? "the card" : "",
            ...[...document.querySelectorAll("main *:not(mjx-container *)")].filter(element =>
                element.checkVisibility() && element.getBoundingClientRect().width > 1
                && !element.closest(".bd-sidebar-secondary")
                && element.getBoundingClientRect().right > wide + 1 && !scrolls(element))
                .map(element => element.outerHTML.slice(0, 80))] }"""


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Path:
    """The site that LESSONS_TEST_SITE names, else the one made once for all tests."""
    if reason := browser_missing():
        pytest.skip(reason)
    return Path(os.environ.get("LESSONS_TEST_SITE")
                or request.getfixturevalue("course_site").folder)


@pytest.fixture
def visit(site, context):
    """``visit("index.html", "?q=x")``: a page of the site, of which no script may fail."""
    crashes = []

    def opened(name, query=""):
        page = context.new_page()
        page.on("pageerror", lambda error: crashes.append(str(error)))
        # a page that is left behind drops its pictures
        page.on("requestfailed", lambda request: request.failure == "net::ERR_ABORTED"
                or crashes.append(request.url))
        page.goto((site / name).as_uri() + query)
        return page

    yield opened
    assert crashes == []
    assert [url for url in context.requests.all if not url.startswith(("file:", "data:"))] == []


def test_pages_are_light_and_nothing_is_cut_on_a_telephone(visit, context):
    found = {}
    for kind, name in [("index", "index.html")] + [
            ("lesson", f"notebooks/{card.stem}.html") for card in Course().cards()]:
        context.requests.all.clear()
        page = visit(name)
        page.set_viewport_size(TELEPHONE)
        page.wait_for_function(READY, timeout=PATIENCE)
        page.evaluate(SCROLL)
        page.wait_for_timeout(100)
        files = {unquote(urlsplit(url).path) for url in context.requests.all
                 if url.startswith("file:")}
        size = sum(Path(file).stat().st_size for file in files)
        assert any(file.endswith((".svg", ".png")) for file in files)
        if size > MOST[kind] or any(page.evaluate(CUT)):
            found[name] = size, page.evaluate(CUT)
        page.close()
    assert not found


def test_search_finds_chinese_and_shows_the_place_by_keyboard_alone(visit):
    page = visit("notebooks/01_one_hot.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("北京")
    page.keyboard.press("Enter")
    page.wait_for_selector("#places mark")
    assert "search.html" in page.url and page.locator("#places mark").first.inner_text() == "北京"
    page.fill("main input[type=search]", "common component")
    page.wait_for_function("places.querySelector('a').textContent.includes('common component')")
    assert re.match(r"\d+ places", page.inner_text("#found"))
    page.keyboard.press("Enter")                 # to the first place, and there
    page.keyboard.press("Enter")
    page.wait_for_selector("article span.highlighted", state="attached")
    assert "06_sif_and_usif.html" in page.url or "glossary" in page.url
    page = visit("search.html", "?q=qqqq")
    assert page.inner_text("#found") == "No places"


@pytest.mark.parametrize("lesson, box, typed, answer",
                         [("one_hot", 0, "lions", "Shared words: 1 (lions)"),
                          ("word2vec", 0, "guitar", "near guitar"),
                          ("sif_and_usif", 1, "A puppy is outside.", "SIF: cosine 0."),
                          ("search", 0, "Who found the Green Revolution?", "revolution")])
def test_a_box_answers_what_is_typed_and_loads_its_table_only_then(
        visit, context, lesson, box, typed, answer):
    page = visit(f"notebooks/{Course().card(lesson).stem}.html")
    table = f"box-{BOXES[lesson][0]}.js"
    assert not any(table in url for url in context.requests.all)
    page.locator("form.try-it input").nth(box).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(typed)
    page.wait_for_function("answer => document.querySelector('.try-it .answer').textContent"
                           ".includes(answer)", arg=answer, timeout=PATIENCE)
    if table != "box-overlap.js":
        assert sum(table in url for url in context.requests.all) == 1


def test_a_figure_moves_when_its_reader_asks_and_plotly_is_not_loaded_before(visit, context):
    page = visit(f"notebooks/{Course().card('bert_flow').stem}.html")
    page.evaluate(SCROLL)
    assert not any("plotly" in url for url in context.requests.all)
    page.evaluate("() => document.querySelectorAll('details:has(figure.interactive)')"
                  ".forEach(fold => fold.open = true)")
    page.locator("figure.interactive button.turn-on").first.click()
    page.wait_for_selector("figure.alive .js-plotly-plot", timeout=PATIENCE)
    assert page.locator("figure.alive img").is_hidden()
    assert page.evaluate("document.activeElement.closest('figure.alive') !== null")
