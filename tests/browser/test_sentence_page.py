"""The page in which a sentence becomes a vector, as its reader has it: opened as a file, quick to
react, by keyboard, narrow and dark.
"""

from __future__ import annotations

import re

import pytest

from lessons_lib.contextual import load_encoder
from lessons_lib.contextual.loading import lesson_bert_folder
from lessons_lib.datasets import load
from lessons_lib.evaluation import pair_cosines
from lessons_lib.npm import npm_missing
from lessons_lib.publish.web.sentence_page import sentence_page
from lessons_lib.publish.web.sources import SENTENCE_PAGE

from .axe import problems
from .conftest import browser_missing
from .pages import PATIENCE

pytestmark = pytest.mark.slow
READY = "document.documentElement.dataset.ready"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    if reason := browser_missing():
        pytest.skip(reason)
    path = tmp_path_factory.mktemp("page") / SENTENCE_PAGE
    path.write_text(sentence_page(lesson_bert_folder(), load("course-sts")), "utf-8")
    return path


@pytest.fixture
def page(context, file):
    page = context.new_page()
    page.crashes = []
    page.on("pageerror", lambda error: page.crashes.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    yield page
    assert page.crashes == []
    assert context.requests.all == [file.as_uri()]          # nothing but the page itself


def cosine(page):
    return float(page.inner_text("#cosine").replace("\u2212", "-"))


def test_it_shows_our_cosine_as_the_reader_types(page):
    texts = ["The train was late.", "Snow made the train late."]
    page.fill("#text0", texts[0])
    page.fill("#text1", texts[1])
    vectors = load_encoder("lesson-bert", device="cpu").encode(texts)
    page.wait_for_timeout(1000)
    assert cosine(page) == pytest.approx(pair_cosines(vectors, [0], [1])[0], abs=0.02)
    for text in ("", "猫 🐄", "a\0b", "word " * 2000):        # and nothing crashes
        page.fill("#text0", text)
        page.wait_for_timeout(300)
        assert abs(cosine(page)) <= 1
    assert "cut off" in page.inner_text("#tokens0")


def test_every_control_works_by_keyboard_and_is_announced(page):
    names = []
    page.focus("#text0")
    for _ in range(10):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert names[:7] == ["text1", "examples", "model", "pooling", "layer", "beta", "gamma"]
    before = cosine(page)
    page.focus("#beta")
    for press in range(1, 5):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"beta.getAttribute('aria-valuetext') === '{press / 4:.2f}'")
        assert page.evaluate("document.activeElement.id") == "beta"
    assert cosine(page) < before                            # the mean was most of the cosine
    page.wait_for_function("said.textContent.includes('Cosine')")
    page.focus("[name=model]")
    page.keyboard.press("ArrowRight")
    said = "document.querySelector('#verdict').textContent"
    page.wait_for_function(f"{said}.startsWith('With weights by chance')")
    page.select_option("#pooling", "cls")
    page.focus("#layer")
    page.keyboard.press("Home")
    page.wait_for_function(f"{said}.includes('same in every text')")
    page.keyboard.press("End")
    page.fill("#pair", "7")
    page.wait_for_function("document.querySelectorAll('circle.near').length === 2")
    assert "graded" in page.inner_text("#dot")


def test_a_key_takes_a_moment_only(page):
    took = []
    page.focus("#text0")
    for letter in " and it rains":
        page.keyboard.type(letter)
        page.wait_for_timeout(250)
        took.append(int(re.search(r"\d+", page.inner_text("#took"))[0]))
    # 150 on a quiet machine; what is compiled first, and neighbours, take more
    assert sorted(took)[len(took) // 2] < 450, took
    assert page.evaluate(f"Number({READY})") < 9000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_no_serious_problem_and_fits_a_telephone(browser, file, scheme):
    if reason := npm_missing("axe"):
        pytest.skip(reason)
    for width in (1366, 390):
        window = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 768})
        window.set_default_timeout(PATIENCE)
        assert not problems(window, [file], root=file.parent)
        page = window.new_page()
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        window.close()
