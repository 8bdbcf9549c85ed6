"""The site's search: which words are in the index, and what is found in it."""

from __future__ import annotations

import json

import pytest

from lessons_lib.publish.web.assets import THEME
from lessons_lib.publish.web.search_index import search_index, sections_of

PAGE = r"""<header>not this</header><article class="bd-article">
<section id="cats"><h1>Cats<a class="headerlink" href="#cats">#</a></h1>
<p>A cat <em>sleeps</em>: <span class="math">\(u \cdot v\)</span>.<br></p>
<div class="math">\[x\]</div><figure><svg><text>axis</text></svg></figure>
<div class="cell_input"><pre>run(<span>"猫在睡觉"</span>)</pre></div>
<section id="dogs"><h2>Dogs</h2><p>They bark &amp; run.</p></section>
<p>Cats again.</p></section></article><footer>nor this</footer>"""
NAMES = """<article><section id="words"><h1>words</h1><dl class="py class">
<dt class="sig py" id="lessons_lib.words.GloVe">class GloVe(<em>dim=100</em>)</dt>
<dd><p>Counts.</p>
<dl class="py method"><dt class="sig py" id="lessons_lib.words.GloVe.fit">fit()
</dt><dd><p>Learn.</p></dd></dl><p>More.</p></dd></dl><p>The end.</p></section></article>"""


def test_a_section_has_its_own_words_without_formulas_and_of_code_what_is_chinese():
    assert sections_of(PAGE) == [
        ["cats", "Cats", r'A cat sleeps: u \cdot v. "猫在睡觉" Cats again.'],
        ["dogs", "Dogs", "They bark & run."]]


def test_a_name_of_the_reference_is_a_section_with_how_its_description_begins():
    assert sections_of(NAMES) == [
        ["words", "words", "The end."], ["lessons_lib.words.GloVe", "words.GloVe", "Counts. More."],
        ["lessons_lib.words.GloVe.fit", "words.GloVe.fit", "Learn."]]
    long = NAMES.replace("Learn.", "Learn. " * 100)
    assert 100 < len(sections_of(long)[-1][2]) < 150


def test_the_index_holds_each_page_once_and_none_of_a_theme(tmp_path):
    for name in ("a.html", "b/c.html", "_static/t.html", "genindex.html", "empty.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<p>no article</p>" if "empty" in name else PAGE, "utf-8")
    script = search_index(tmp_path)
    index = json.loads(script.removeprefix("const courseIndex = ").removesuffix(";\n"))
    assert [page[:2] for page in index] == [["a.html", "Cats"], ["b/c.html", "Cats"]]
    assert [section[0] for section in index[0][2]] == ["", "dogs"]


def test_a_name_is_written_once_in_the_index_and_found_by_its_heading(tmp_path, asked):
    (tmp_path / "words.html").write_text(NAMES, "utf-8")
    script = search_index(tmp_path)
    assert script.count("GloVe.fit") == 1
    index = script.removeprefix("const courseIndex = ").removesuffix(";\n")
    (place,) = asked(f"search({index}, 'GloVe.fit')", THEME / "search.js")["places"]
    assert place[2:4] == ["lessons_lib.words.GloVe.fit", "words.GloVe.fit"]


SECTIONS = [["a.html", "Cats", [["", "Cats", "The café has a cat. 猫在沙发上睡觉。"],
                               ["dogs", "Dogs", "No such animal; concatenate."]]],
            ["b.html", "Dogs", [["", "Dogs", "x " * 300 + "A dog and a Cat play. " + "y " * 300]]]]


@pytest.mark.parametrize("query, found, terms",
                         [("cat", ["a.html", "a.html#dogs", "b.html"], ["cat"]),
                          ("CAFE\u0301", ["a.html"], ["cafe"]), ("ＣＡＦÉ", ["a.html"], ["cafe"]),
                          ("play dog", ["b.html"], ["play", "dog"]), ("猫", ["a.html"], ["猫"]),
                          ("cat猫在", ["a.html"], ["cat", "猫在"]),
                          ("睡觉的猫", ["a.html"], ["睡觉", "觉的", "的猫"]),
                          ("zebra", [], ["zebra"]), ("<b>(.*", [], ["<b>(.*"]), ("", [], [])])
def test_words_are_found_in_any_language_the_best_place_first(asked, query, found, terms):
    got = asked(f"search({json.dumps(SECTIONS)}, {json.dumps(query)})", THEME / "search.js")
    assert got["terms"] == terms
    assert [page + (anchor and f"#{anchor}") for page, _, anchor, _, _ in got["places"]] == found


def test_an_excerpt_shows_what_was_found_with_the_text_around_it(asked):
    text = SECTIONS[1][2][0][2]
    parts = asked(f'excerpt({json.dumps(text)}, ["dog", "cat"])', THEME / "search.js")
    assert [words for words, hit in parts if hit] == ["dog", "Cat"]
    shown = "".join(words for words, _ in parts)
    assert shown.startswith("… ") and shown.endswith(" …") and 100 < len(shown) < 180
    assert shown.strip("… ") in text
    assert asked('excerpt("short", ["nothing"])', THEME / "search.js") == [["short", False]]
