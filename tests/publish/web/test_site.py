"""The site, made by Sphinx, where the extra set is installed: the tiny course and the real one."""

from __future__ import annotations

from functools import partial

import pytest

from lessons_lib.publish.web import build_site, site, site_missing
from lessons_lib.publish.web.assets import FONTS
from lessons_lib.publish.web.sources import write_sources

pytestmark = [pytest.mark.slow, pytest.mark.skipif(site_missing() is not None,
                                                   reason="the extra set `site` is not installed")]


def test_the_site_of_the_tiny_course_is_whole_and_a_second_one_tells_what_is_wrong(
        built, folder, monkeypatch):
    # the site of the course has all
    monkeypatch.setattr(site, "write_sources", partial(write_sources, rooms=["words"]))
    made = build_site(folder, course=built)
    assert made.problems == () and made.pages > 6
    page = (folder / "notebooks" / "01_counting.html").read_text("utf-8")
    assert 'alt="Line chart of words' in page and "application/json" in page
    assert "tex-chtml.js" in page and "figures.js" in page and "fontawesome" not in page
    assert list((folder / "_static" / FONTS).glob("*.woff"))
    assert 'rel="prev"' in page and "lessons_lib.words.Word2Vec" in (
        folder / "reference" / "words.html").read_text("utf-8")
    assert "01_counting" in (folder / "_static" / "search_index.js").read_text("utf-8")
    assert "search_index.js" in (folder / "search.html").read_text("utf-8")
    assert not list(folder.rglob("*.pyc")) and not list(folder.rglob("*.map"))
    notebook = built.card("counting").notebook
    notebook.write_text(notebook.read_text("utf-8").replace(
                            "## Summary", "[gone](nowhere.html)\\n\\n## Summary"), "utf-8")
    assert any("nowhere.html" in problem for problem in build_site(folder, course=built).problems)


def test_the_site_of_the_course_has_no_problem(course_site):
    assert course_site.problems == () and course_site.megabytes < 50
    assert (course_site.folder / "_static" / "search_index.js").stat().st_size < 1e6
    assert (course_site.folder / "leaderboard.html").is_file() and (
        course_site.folder / "figures" / "README.html").is_file()
