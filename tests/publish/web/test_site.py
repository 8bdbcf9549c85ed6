"""The site, made by Sphinx: the tiny course and the real one. Where the extra set is absent these are skipped, and all else is tested."""

from __future__ import annotations

import pytest

from lessons_lib.publish.web import build_site, site_missing

pytestmark = [pytest.mark.slow, pytest.mark.skipif(site_missing() is not None, reason="the extra set `site` is not installed")]


def test_the_site_of_the_tiny_course_is_whole_and_asks_nobody(built, folder):
    site = build_site(folder, course=built)
    assert site.problems == () and site.pages > 20
    page = (folder / "notebooks" / "01_counting.html").read_text("utf-8")
    assert 'alt="Line chart of words' in page and "application/json" in page and "tex-svg.js" in page and "figures.js" in page
    assert 'rel="prev"' in page and "lessons_lib.words.Word2Vec" in (folder / "reference" / "words.html").read_text("utf-8")
    assert "count" in (folder / "searchindex.js").read_text("utf-8") and not list(folder.rglob("*.pyc"))


def test_a_second_build_takes_the_place_of_the_first_and_what_is_wrong_is_said(built, folder):
    build_site(folder, course=built)
    notebook = built.card("counting").notebook
    notebook.write_text(notebook.read_text("utf-8").replace("## Summary", "[gone](nowhere.html)\\n\\n## Summary"), "utf-8")
    assert any("nowhere.html" in problem for problem in build_site(folder, course=built).problems)


def test_the_site_of_the_course_has_no_problem(folder):
    site = build_site(folder)
    assert site.problems == () and site.megabytes < 60
    assert (folder / "leaderboard.html").is_file() and (folder / "figures" / "README.html").is_file()
