"""Decks as pages and as notebooks; the page in a browser where there is one."""

from __future__ import annotations

import re
import subprocess

import nbformat
import pytest

from lessons_lib.publish.web import build_slides, deck, find_chromium, live_notebook
from lessons_lib.publish.web import site_missing, slides
from lessons_lib.publish.web.outputs import Pictures
from lessons_lib.publish.web.printing import chromium_command
from lessons_lib.publish.web.slides import _section, renderer

NEEDS_SITE = pytest.mark.skipif(site_missing() is not None,
                                reason="the extra set `site` is not installed")


@pytest.fixture
def small(notebook, picture, table):
    """A notebook with a question, a picture, a table on a slide, and cells on none."""
    return notebook("## Words\n\n**Predict.** Up [there](01_counting.ipynb#a)?", ("x = 1", [], {}),
                    ("plot()", [picture(live=True)], {}),
                    "It rises [as said](00_start_here.ipynb), see [it](https://x.org).",
                    ("show()", [table], {"slide": "If $a < b$, seven."}),
                    "## Weights\n\nSo\n\n$$a < b$$")


def test_a_slide_has_heading_sentence_picture_and_notes(course, small, tmp_path):
    markdown, pictures = renderer(), Pictures(tmp_path, "pictures/")
    made = deck(course.card("counting"), small)
    opening, words, seven, weights = (_section(slide, place == 0, pictures, markdown)
                                      for place, slide in enumerate(made))
    assert "<h1>01 · Counting</h1>" in opening and "<li>count words</li>" in opening
    assert "<h2>Words</h2>" in words and 'class="shown fragment"' in words and words.index(
        "Up there?") < words.index("<figure")
    assert '<aside class=notes><p>It rises as said, see <a href="https://x.org">it</a>.' in words
    assert r"\(a &lt; b\)</span>, seven." in seven and "<td>7</td>" in seven
    assert "fragment" not in seven
    assert '<div class="body formula">' in weights and r"\[a &lt; b\]" in weights


def test_the_live_notebook_runs_whole_and_says_what_is_on_which_slide(course, small):
    live = live_notebook(course.card("counting"), small)
    nbformat.validate(live)
    code = [cell for cell in live.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code] == ["x = 1", "plot()", "show()"]
    assert [cell.metadata.slideshow.get("slide_type")
            for cell in code] == ["skip", "fragment", None]
    assert code[1].metadata.jupyter.source_hidden and "jupyter" not in code[0].metadata
    starts = [cell.source.splitlines()[0]
              for cell in live.cells if cell.metadata.slideshow.get("slide_type") == "slide"]
    assert starts == ["# 01 · Counting", "## Words", "## Words", "## Weights"]
    answers = [cell.source for cell in live.cells if cell.cell_type == "markdown"
               and cell.metadata.slideshow.get("slide_type") == "fragment"]
    assert answers == ["The line is straight & "
                       "rises."] and "slideshow" not in small.cells[1].metadata


@pytest.fixture
def without_scripts(monkeypatch):
    """Decks as they are where the extra set is installed, with empty scripts."""
    monkeypatch.setattr(slides, "check_installed", lambda: None)

    def empty(folder, *names):
        folder.mkdir(parents=True)
        for name in ("reset.css", "reveal.css", "reveal.js", "notes.js", "tex-svg.js",
                     "plotly.min.js"):
            (folder / name).write_text("", "utf-8")

    monkeypatch.setattr(slides, "copy_scripts", empty)


def test_a_folder_of_decks_is_whole_and_an_unknown_lesson_writes_nothing(
        built, folder, without_scripts):
    with pytest.raises(ValueError, match="Did you mean 'counting'"):
        build_slides(["countin"], folder, course=built)
    assert not folder.exists()
    assert build_slides(None, folder, course=built) == {"start_here": 2, "counting": 2}
    assert {path.name for path in folder.glob("*.html")} == {"index.html", "00_start_here.html",
                                                             "01_counting.html"}
    assert (folder / "01_counting.html").read_text("utf-8").count("<section>") == 2
    assert nbformat.read(folder / "live" / "01_counting.ipynb", as_version=4).cells
    assert build_slides(["counting"], folder, course=built) == {"counting": 2}
    assert not (folder / "00_start_here.html").exists()


@pytest.mark.slow
@NEEDS_SITE
@pytest.mark.skipif(find_chromium() is None, reason="no Chromium, Chrome or Edge is installed")
def test_a_deck_comes_alive_without_a_network(built, folder, tmp_path):
    build_slides(["counting"], folder, course=built)
    command = chromium_command(tmp_path / "profile", "--virtual-time-budget=20000",
                               "--window-size=1280,800", "--dump-dom",
                               (folder / "01_counting.html").resolve().as_uri() + "#/1")
    page = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    assert "js-plotly-plot" in page and 'class="picture interactive alive"' in page and re.search(
        r'<section[^>]*class="present"', page)
    controls = re.search(r'<div class="turns">(.*?)</div>', page)[1]
    assert '<button type="button">play</button>' in controls
    assert 'type="range" min="0" max="1" aria-valuetext="step a"' in controls
