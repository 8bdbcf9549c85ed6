"""The boxes of the site compute what the library computes."""

from __future__ import annotations

import json
import re
from functools import cache

import numpy as np
import pytest

from lessons_lib.counts import OneHot
from lessons_lib.datasets import load
from lessons_lib.evaluation import pair_cosines, question_set
from lessons_lib.lesson import Course
from lessons_lib.lesson.try_it import HOW_TO_START
from lessons_lib.publish.check import read_notebook
from lessons_lib.publish.web import boxes
from lessons_lib.publish.web.assets import THEME
from lessons_lib.publish.web.outputs import Pictures
from lessons_lib.publish.web.sources import still_notebook
from lessons_lib.search import InvertedIndex

LIMIT = 1.5e6                                    # bytes of a table
script_of = cache(boxes.box_script)              # seconds each


@pytest.fixture
def box(asked, tmp_path):
    """``box(method, question)``: what the page's script says, its table being ``t``."""
    def answer(method, question):
        script = tmp_path / f"{method}.js"
        script.write_text(script_of(method), "utf-8")
        assert script.stat().st_size < LIMIT
        return asked(f'(() => {{ const t = boxTables["{method}"]; return {question}; }})()',
                     THEME / "boxes.js", script)

    return answer


@pytest.mark.slow
def test_sif_of_the_course_s_pairs_is_that_of_the_library(box):
    pairs = load("course-sts")
    model = boxes.sif(boxes.table("glove"))
    vectors = model.encode([*pairs.sentence1, *pairs.sentence2])
    n = len(pairs)
    ours = pair_cosines(vectors, np.arange(n), np.arange(n, 2 * n))
    both = json.dumps([pairs.sentence1, pairs.sentence2])
    page = box("sif", f"(opened(t), {both}[0].map((a, i) => "
                      f"cosine(sifVector(t, a), sifVector(t, {both}[1][i]))))")
    np.testing.assert_allclose(page, ours, atol=1e-5)
    whole = load("course-vectors", model="glove")
    exact = boxes.sif(type(whole)(model.vectors.tokens, whole.matrix[
        whole.ids(model.vectors.tokens)])).encode([*pairs.sentence1, *pairs.sentence2])
    np.testing.assert_allclose(page, pair_cosines(exact, np.arange(n), np.arange(n, 2 * n)),
                               atol=0.02)        # eight bits


@pytest.mark.slow
def test_neighbours_and_analogies_are_those_of_the_library(box):
    vectors, words = boxes.table("skip-gram"), ["moon", "guitar", "berlin", "the", "dog"]
    page = box("neighbours", f"(opened(t), {words}.map(w => "
                             "nearest(t, t.unit[t.number.get(w)], [w])))")
    for word, found in zip(words, page, strict=True):
        ours = vectors.most_similar(word, topn=5)
        assert [name for name, _ in found] == [name for name, _ in ours]
        np.testing.assert_allclose([c for _, c in found], [c for _, c in ours], atol=1e-5)
    asked = ["man", "king", "woman"]
    barred, free = box("neighbours", f"(opened(t), [{asked}, []].map(barred => "
                                     f"nearest(t, analogyVector(t, {asked}), barred)))")
    assert [name for name, _ in barred] == [w for w, _ in vectors.analogy(*asked, topn=5)]
    assert [name for name, _ in free] == [
        w for w, _ in vectors.analogy(*asked, topn=5, exclude=False)]


@pytest.mark.slow
def test_bm25_of_the_course_s_questions_is_that_of_the_library(box):
    texts, questions = boxes.passages(), question_set("course-questions", "dev").question[:40]
    ours = InvertedIndex(token_pattern=r"(?u)\b\w+\b").fit(texts).scores(questions)
    page = box("bm25", f"{json.dumps(questions)}.map(q => [...bm25Scores(t, q)]"
                       ".map(x => Number(x.toPrecision(7))))")
    np.testing.assert_allclose(page, ours, rtol=1e-5, atol=1e-9)


def test_shared_words_are_those_of_one_hot(asked):
    pairs = load("course-sts")
    for first, second in [*zip(pairs.sentence1[:20], pairs.sentence2, strict=False),
                          ("Ünïted, é 2² _x", "ünïted É 2²")]:
        rows = OneHot(token_pattern=r"(?u)\b\w+\b").fit([first, second]).transform(
            [first, second]).toarray()
        cosine = rows[0] @ rows[1] / np.sqrt(rows[0].sum() * rows[1].sum())
        said = asked(f"METHODS.overlap(null, {json.dumps(first)}, {json.dumps(second)}).said",
                     THEME / "boxes.js")
        assert said.startswith(f"Shared words: {rows[0] @ rows[1]}")
        assert said.endswith(f"Cosine: {cosine:.2f}")


@pytest.mark.slow
@pytest.mark.parametrize("method, texts, answer",
                         [("overlap", ["", "a"], "both boxes"),
                          ("sif", ["qqqq", "a dog"], "5,000 words of this page: qqqq"),
                          ("sif", ["a dog", "a cat"], "what 2,000 sentences of Wikipedia share"),
                          ("neighbours", ["", "a b c"], "Type one word"),
                          ("neighbours", ["moon", "king qqqq man"], "of this page: qqqq"),
                          ("bm25", ["qqqq"], "No passage")])
def test_a_box_says_what_it_lacks_and_what_it_computes_with(asked, box, method, texts, answer):
    question = f"METHODS['{method}'](t, ...{json.dumps(texts)}).said"
    said = (asked(question.replace("(t,", "(null,"), THEME / "boxes.js") if method == "overlap"
            else box(method, question))
    assert answer in said


def test_the_lessons_with_a_box_still_have_text_boxes_of_the_same_names(tmp_path):
    for lesson, (method, texts) in boxes.BOXES.items():
        card = Course().card(lesson)
        source = card.path.read_text("utf-8")
        for name in texts:
            assert re.search(rf'lesson\.try_it\([^)]*"{name}"', source), (lesson, name)
        made = still_notebook(read_notebook(card.notebook), Pictures(tmp_path, ""),
                              boxes.box_html(method, texts))
        shown = [output["data"]["text/html"] for cell in made.cells
                 for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]
        assert sum("try-it" in text for text in shown) == 1
        assert HOW_TO_START not in json.dumps(made, ensure_ascii=False)
