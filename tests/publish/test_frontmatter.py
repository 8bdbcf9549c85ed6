"""Front matter: each planted fault gets one sentence."""

from __future__ import annotations

import pytest

from lessons_lib.publish import read_bibliography, validate


def problems(course, old: str = "", new: str = "") -> list[str]:
    path = course.notebooks / "01_counting.md"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    return validate(course.card("counting"), course.cards(),
                    read_bibliography(course.notebooks / "references.bib"))


def test_sound_front_matter_has_no_problem(course):
    assert problems(course) == []


@pytest.mark.parametrize(("old", "new", "message"), [
    ("id: counting", "id: count", "differs from the file name 01_counting.md"),
    ("  question: How far | does counting get?\n", "", "`question` is missing"),
    ("does counting get?", "counting gets", "is no question"),
    ("you_will: [count words, draw a line]", "you_will: []", "names nothing"),
    ("you_will: [count words, draw a line]", "you_will: count words", "is no list of texts"),
    ("needs: [start_here]", "needs: [start_hear]",
     "'start_hear' is no lesson; did you mean 'start_here'?"),
    ("needs: [start_here]", "needs: [counting]", "comes after this lesson"),
    ("{read: 5, run: 1}", "{read: 5}", "should be {read: 40, run: 1}"),
    ("{read: 5, run: 1}", "{read: 5, run: 0}", "both above 0"),
    ("papers: [harris1954distributional]", "papers: [harris1954]",
     "not in references.bib; did you mean 'harris1954distributional'?"),
    ("uses: [core.checks]", "uses: [core.check]", "lessons_lib.core.check does not exist"),
    ("terms: {}", "terms: [token]", "map each term to one sentence"),
    ("terms: {}", "term: {}", "`term` is no field; did you mean 'terms'?"),
    ("terms: {}", "scales: {smoke: {n: 1}, laptop: {n: 2}}",
     "exactly the keys smoke, laptop, paper"),
    ("terms: {}", "scales: {smoke: {n: 1}, laptop: {n: 2}, paper: {m: 3}}",
     "`scales.paper` has other names"),
    ("terms: {}", "scales: {smoke: {a b: 1}, laptop: {a b: 2}, paper: {a b: 3}}",
     "is no Python name")])
def test_a_planted_fault_is_named(course, old, new, message):
    found = problems(course, old, new)
    assert any(message in text for text in found), found
    assert len(found) == 1
