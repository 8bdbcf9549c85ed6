"""Cards of a course: what they ask, and that a reader's cards survive a new deck."""

from __future__ import annotations

import os
import sqlite3
import sys
import zipfile
from dataclasses import replace

import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.lesson import Course
from lessons_lib.publish.cards import cards_of, write_deck

TEXT = """---
lesson: {id: toy, terms: {token: "one word, $n$ of them"}}
---

## Ten questions

<details><summary>1. Why **cosine**?</summary>

The norm, $\\lVert x \\rVert$, is divided out ([section 3](#3)).

</details>

## Exercises

<details><summary>A hint</summary>no card</details>
"""
CODE = """first = lesson.predict("Heads?", ["heads", "tails"])
second = lesson.predict("How many?", ["one", "two"])
third = lesson.predict("Nobody knows", ["a", "b"])
fourth = lesson.predict(f"Computed {1}", ["a", "b"])"""
ANSWERS = 'first.answer("tails")\nsecond.answer(int(x))\nfourth.answer("a")'


@pytest.fixture
def lesson(tmp_path):
    """A lesson with a card of each kind; what the second prediction's answer is, it shows."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    path = tmp_path / "notebooks" / "01_toy.md"
    path.parent.mkdir()
    path.write_text(TEXT, "utf-8")
    shown = new_output("display_data", {"text/markdown": "**The answer: a. one.** Well"})
    cells = [new_code_cell("%broken ("), new_code_cell(CODE), new_code_cell(
        ANSWERS, outputs=[shown])]
    nbformat.write(new_notebook(cells=cells), path.with_suffix(".ipynb"))
    return Course(tmp_path).card("toy")


def notes(path):
    """Guid -> (fields, modified), and the ids of decks, of a package."""
    with zipfile.ZipFile(path) as package:
        package.extract("collection.anki2", path.parent)
    connection = sqlite3.connect(path.parent / "collection.anki2")
    try:
        rows = connection.execute("select guid, flds, mod from notes").fetchall()
        ids = connection.execute("select id from notes union select id from cards union "
                                 "select did from cards union select mid from notes").fetchall()
    finally:
        connection.close()
    return {guid: (fields.split("\x1f"), changed) for guid, fields, changed in rows}, sorted(ids)


def test_terms_predictions_and_questions_are_cards(lesson):
    assert [(card.kind, card.front, card.back) for card in cards_of(lesson)] == [
        ("term", "token", "one word, $n$ of them"),
        ("prediction", "Heads?\n\n- a. heads\n- b. tails", "b. tails"),
        ("prediction", "How many?\n\n- a. one\n- b. two", "a. one"),
        ("question", "Why **cosine**?",
         "The norm, $\\lVert x \\rVert$, is divided out ([section 3](#3)).")]


def test_without_a_notebook_there_are_no_predictions(lesson):
    lesson.notebook.unlink()
    assert [card.kind for card in cards_of(lesson)] == ["term", "question"]


def test_a_second_run_gives_the_same_ids_and_a_changed_answer_keeps_its_card(lesson, tmp_path):
    pytest.importorskip("genanki", reason="of the extra set cards")
    first, second, third = (tmp_path / f"{i}.apkg" for i in range(3))
    assert write_deck([lesson], first) == write_deck([lesson], second) == {"toy": 4}
    assert notes(first) == notes(second)
    fields = [fields for fields, _ in notes(first)[0].values()]
    assert any(r"\(\lVert x \rVert\)" in back and "(section 3)" in back for _, back, _ in fields)
    changed = replace(lesson, terms={"token": "a word"})
    lesson.path.write_text(TEXT.replace("is divided out", "is taken out"), "utf-8")
    newest = max(path.stat().st_mtime for path in (lesson.path, lesson.notebook)) + 60
    os.utime(lesson.path, (newest, newest))
    write_deck([changed], third)
    before, after = notes(first)[0], notes(third)[0]
    assert before.keys() == after.keys()
    assert sum(before[guid][0] != after[guid][0] for guid in before) == 2
    assert all(after[guid][1] > before[guid][1] for guid in before), "Anki takes newer notes only"


def test_a_deck_that_cannot_be_made_leaves_the_old_one(lesson, tmp_path, monkeypatch):
    out = tmp_path / "d.apkg"
    out.write_bytes(b"old")
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "genanki", None)
        with pytest.raises(BackendUnavailable, match=r"pip install .*\[cards\]"):
            write_deck([lesson], out)
    pytest.importorskip("genanki", reason="of the extra set cards")
    with pytest.raises(ValueError, match=r"\.apkg"):
        write_deck([lesson], tmp_path / "d.zip")
    with pytest.raises(ValueError, match="no cards"):
        write_deck([], out)
    lesson.notebook.write_text("{cut", "utf-8")
    with pytest.raises(ValueError, match="01_toy"):
        write_deck([lesson], out)
    assert out.read_bytes() == b"old"


def test_every_prediction_of_the_course_has_its_answer():
    cards = {lesson.id: cards_of(lesson) for lesson in Course().cards()}
    asked = {lesson.id: lesson.path.read_text("utf-8").count("lesson.predict(")
             for lesson in Course().cards()}
    made = {name: sum(card.kind == "prediction" for card in of) for name, of in cards.items()}
    assert made == asked and sum(made.values()) >= 14
    assert [sum(card.kind == "question" for card in cards[name])
            for name in ("one_hot", "bag_of_words", "word2vec")] == [10, 10, 10]
