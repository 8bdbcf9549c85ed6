"""The site: no serious problem for axe-core, every control by the keyboard, no other machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lessons_lib.npm import npm_missing

from .axe import pages_of, problems
from .pages import PATIENCE

SOUND = """<!doctype html><html lang="en"><head><title>A page</title>
<style>.k { color: #060; }</style></head>
<body><main><h1>A page</h1><p>Words that can be read.</p>
<img alt="A line that rises" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<a href="#x">on</a><button>go</button><pre class="highlight"><span class="k">for</span>
<span class="k">if</span></pre></main></body></html>"""
FLAWS = {"image-alt": ('alt="A line that rises"', ""), "html-has-lang": (' lang="en"', ""),
         "link-name": (">on</a>", "></a>"), "color-contrast": ("#060", "#bbb"),
         "keyboard": ("<button>", '<button tabindex="-1">')}
EACH_KIND = ("index.html", "leaderboard.html", "figures/README.html",
             "notebooks/02_bag_of_words.html", "reference/words.html")


@pytest.fixture
def rules() -> None:
    """Skip without axe-core."""
    if reason := npm_missing("axe"):
        pytest.skip(reason)


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Path:
    """The site that LESSONS_TEST_SITE names, else the one made once for all tests."""
    return Path(os.environ.get("LESSONS_TEST_SITE")
                or request.getfixturevalue("course_site").folder)


def test_a_sound_page_has_no_problem_and_each_planted_flaw_is_found(rules, context, tmp_path):
    (tmp_path / "sound.html").write_text(SOUND, "utf-8")
    for rule, (right, wrong) in FLAWS.items():
        assert right in SOUND
        (tmp_path / f"{rule}.html").write_text(SOUND.replace(right, wrong), "utf-8")
    found = problems(context, pages_of(tmp_path), root=tmp_path)
    assert {(problem.page, problem.rule) for problem in found
            } == {(f"{rule}.html", rule) for rule in FLAWS}
    assert all(problem.what and problem.first and str(problem).startswith(problem.page)
               for problem in found)


@pytest.mark.slow
def test_no_page_of_the_site_has_a_serious_problem_in_the_light_and_each_kind_in_the_dark(
        rules, browser, context, site):
    pages = pages_of(site)
    assert pages, f"{site} holds no page"
    dark = browser.new_context(color_scheme="dark")
    dark.set_default_timeout(PATIENCE)
    found = (problems(context, pages, root=site) +
             problems(dark, [site / name for name in EACH_KIND], root=site))
    assert not found, "\n".join(map(str, found))
    assert [url for url in context.requests.all if not url.startswith(("file:", "data:", "blob:"))
            ] == []
