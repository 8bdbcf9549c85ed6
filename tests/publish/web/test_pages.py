"""The look at finished pages finds what is planted, and nothing in a sound page."""

from __future__ import annotations

import pytest

from lessons_lib.publish.web import page_problems
from lessons_lib.publish.web.pages import foreign

SOUND = """<html><head><link rel="canonical" href="https://x.org/a"><link rel="stylesheet"
href="s.css?v=1"><script src="a%20b.js"></script></head><body><h2 id="up">A</h2>
<a href="#up">up</a> <a href="b.html#there">b</a> <a href="https://x.org">away</a>
<a href="mailto:a@b.c">m</a> <a href="#">top</a><img src="data:image/png;base64,AA" alt="">
<style>p { background: url("p.png") }</style></body></html>"""


@pytest.fixture
def site(tmp_path):
    for name, text in {"a.html": SOUND, "b.html": '<p id="there">b</p>',
                       "s.css": "p { color: red }", "a b.js": "", "p.png": ""}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_a_sound_site_has_no_problem_and_a_style_sheet_that_loads_from_elsewhere_has_one(site):
    (site / "_static").mkdir()                    # templates beside scripts are no pages
    (site / "_static" / "macros.html").write_text('<script src="{{ x }}"></script>', "utf-8")
    assert page_problems(site) == []
    (site / "s.css").write_text("@font-face { src: url('https://fonts.x.org/f.woff2') }", "utf-8")
    assert [str(p) for p in page_problems(site)] == [
        "s.css: loads https://fonts.x.org/f.woff2 from another host [offline]"]
    assert all(map(foreign, ("https://x", "//x/y", "HTTP://x", "ftp://x")))
    assert not any(map(foreign, ("a//b", "a/b.html", "#a", "data:x", "/a")))


@pytest.mark.parametrize(
    "planted, rule, message",
    [('<script src="https://cdn.x.org/m.js"></script>', "offline",
      "loads https://cdn.x.org/m.js from another host"),
     ('<script src="//cdn.x.org/m.js"></script>', "offline", "from another host"),
     ('<link rel="preload stylesheet" href="http://x.org/f.css">', "offline", "from another host"),
     ('<img alt="x" src="s.css" srcset="https://x.org/i.png 2x">', "offline",
      "loads https://x.org/i.png"),
     ('<p style="background: url(https://x.org/i.png)">', "offline", "loads https://x.org/i.png"),
     ("<style>@import 'https://x.org/f.css';</style>", "offline", "loads https://x.org/f.css"),
     ('<iframe src="https://x.org"></iframe>', "offline", "from another host"),
     ('<a href="gone.html">x</a>', "links", "gone.html leads nowhere"),
     ('<script src="gone.js"></script>', "links", "gone.js leads nowhere"),
     ('<a href="b.html#gone">x</a>', "links", "b.html#gone: b.html has no such place"),
     ('<a href="#gone">x</a>', "links", "#gone: c.html has no such place"),
     ('<img src="p.png">', "alt text", "picture p.png has no alt text")])
def test_each_planted_fault_is_found(site, planted, rule, message):
    (site / "c.html").write_text(f"<body>{planted}</body>", "utf-8")
    (problem,) = page_problems(site)
    assert (problem.lesson, problem.rule) == ("c.html", rule) and message in problem.message
