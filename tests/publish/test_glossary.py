"""The glossary: a page made of the terms of all lessons."""

from __future__ import annotations

import json

import nbformat

from lessons_lib.core import write_text
from lessons_lib.publish.glossary import glossary_page


def test_terms_stand_by_letter_and_link_to_their_lessons(course):
    path = course.notebooks / "01_counting.md"
    write_text(path, path.read_text("utf-8").replace("terms: {}", "terms: {Token: a word, bag: a "
                                                     "set with counts, odd (one): a term}"))
    page = glossary_page(course.cards())
    nbformat.validate(nbformat.reads(page, as_version=4))
    opening, *letters, by_lesson = ["".join(cell["source"]) for cell in json.loads(page)["cells"]]
    assert opening.startswith("# Glossary") and opening.endswith("[B](#B) · [O](#O) · [T](#T)")
    assert letters == ["## B\n\n### bag\n\na set with counts ([01](01_counting.ipynb))",
                       "## O\n\n### odd (one)\n\na term ([01](01_counting.ipynb))",
                       "## T\n\n### token\n\none word of a text ([00](00_start_here.ipynb))\n\n"
                       "a word ([01](01_counting.ipynb))"]
    assert by_lesson.endswith("(01_counting.ipynb): [token](#token) · [bag](#bag) · "
                              "[odd (one)](#odd-%28one%29)")


def test_a_course_without_terms_has_an_empty_page():
    assert len(json.loads(glossary_page([]))["cells"]) == 1
