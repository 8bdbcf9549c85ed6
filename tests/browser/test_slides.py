"""Decks as a class sees them, on the screen of a small laptop: large pictures, letters that the
last row can read, a question that folds, formulas that stand once in the notes; and the live deck.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from lessons_lib.lesson.course import Course
from lessons_lib.publish.check import read_notebook
from lessons_lib.publish.web import build_slides, live_notebook, site_missing

from .conftest import browser_missing
from .pages import PATIENCE

pytestmark = pytest.mark.slow
WIDTH, HEIGHT = 1366, 768
DECKS = ("word2vec", "bert_whitening", "bag_of_words")
STEP = """() => {
    const slide = document.querySelector("section.present"), seen = {checkOpacity: true,
        checkVisibilityCSS: true}, image = slide.querySelector("figure.picture img");
    const box = (element) => { const r = element.getBoundingClientRect();
                               return [r.left, r.top, r.right, r.bottom]; };
    let picture = null;
    if (image?.checkVisibility(seen)) {
        const r = image.getBoundingClientRect();
        const scale = Math.min(r.width / image.naturalWidth, r.height / image.naturalHeight);
        picture = [image.src, image.naturalWidth * scale, image.naturalHeight * scale];
    }
    return {picture, boxes: [...slide.querySelectorAll(
                "h2, .sentence, .question, .body, .output, figure")]
                .filter(element => element.checkVisibility(seen)).map(box),
            letters: [...slide.querySelectorAll("p, li, td, pre")]
                .filter(element => element.checkVisibility(seen) && element.offsetHeight)
                .map(element => parseFloat(getComputedStyle(element).fontSize)
                     * element.getBoundingClientRect().height / element.offsetHeight),
            question: slide.querySelector("details.question")?.open ?? null,
            answered: !slide.querySelector(".fragment:not(.visible)"),
            last: Reveal.isLastSlide() && !Reveal.availableFragments().next} }"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if reason := browser_missing() or site_missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("decks") / "slides"
    build_slides(DECKS, folder)
    return folder


def steps(page):
    """What is seen at each step of a deck."""
    found = [page.evaluate(STEP)]
    while not found[-1]["last"]:
        page.evaluate("Reveal.next()")
        page.wait_for_timeout(100)
        found.append(page.evaluate(STEP))
    return found


def label(picture):
    """The smallest letters of a drawn picture in pixels of the screen; None for a photograph."""
    source, width, _ = picture
    text = Path(unquote(urlsplit(source).path)).read_text("utf-8") if ".svg" in source else ""
    sizes = [100 * float(scale) for scale in re.findall(r"scale\(([\d.]+) -[\d.]+\)", text)]
    if not sizes:
        return None
    return min(sizes) * width / float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])


@pytest.mark.parametrize("lesson", DECKS)
def test_pictures_are_large_letters_can_be_read_and_a_question_folds(browser, decks, lesson):
    window = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    page = window.new_page()
    page.goto((decks / f"{Course().card(lesson).stem}.html").as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()", timeout=PATIENCE)
    page.wait_for_function("window.MathJax?.startup?.promise && MathJax.startup.promise.then("
                           "() => true)", timeout=PATIENCE)
    seen = steps(page)
    assert len(seen) >= page.evaluate("Reveal.getTotalSlides()") > 10    # an answer is a step
    for number, step in enumerate(seen):
        for left, top, right, bottom in step["boxes"]:
            assert min(left, top, WIDTH - right, HEIGHT - bottom) > -1, number
        assert all(letters > 24 for letters in step["letters"]), (number, step["letters"])
        assert step["question"] is None or step["question"] is not step["answered"], number
        if step["picture"]:
            _, width, height = step["picture"]
            assert width > 0.7 * WIDTH or height > 0.95 * HEIGHT, (number, width, height)
            assert round(label(step["picture"]) or 18) >= 18, (number, label(step["picture"]))
    formulas = "document.querySelectorAll('aside.notes {}').length"
    assert page.evaluate(formulas.format("mjx-container")) == 0
    assert page.evaluate(formulas.format("math")) > 0
    window.close()


def test_a_live_deck_has_letters_for_the_last_row(lab, context):
    card = Course().card("bag_of_words")
    live = live_notebook(card, read_notebook(card.notebook))
    page = context.new_page()
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(lab.address_of(live, "live"), timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook .jp-RenderedMarkdown", timeout=PATIENCE)
    page.evaluate("jupyterapp.commands.execute('deck:start')")
    page.wait_for_selector("[data-jp-deck-mode=presenting] .jp-RenderedMarkdown li",
                           timeout=PATIENCE)
    page.wait_for_function("""() => [...document.querySelectorAll(
        ".jp-RenderedMarkdown p, .jp-RenderedMarkdown li")].filter(e => e.checkVisibility(
        {checkVisibilityCSS: true})).every(e => parseFloat(getComputedStyle(e).fontSize) >= 24)""",
                           timeout=PATIENCE)
    page.evaluate("jupyterapp.commands.execute('deck:stop')")
