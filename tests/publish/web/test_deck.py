"""Which cells are slides: the rule, the marks, the limit; and the decks of the real lessons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.lesson import Course
from lessons_lib.publish.check import read_notebook
from lessons_lib.publish.web import MAX_SLIDES, deck
from lessons_lib.publish.web.deck import ASK, blocks

REAL = Course()


@pytest.fixture
def card(course):
    return course.card("counting")


def test_question_pictures_formulas_and_summary_make_the_deck(card, notebook, picture):
    made = notebook(("# 01 · Counting", {"tags": ["opening"]}),
                    "Lead.\n\n## Words\n\nBefore.\n\n**Predict.** Up or down?",
                    ("plot()", [picture()], {}), "It rises. So it goes.\n\n## Weights\n\nFirst "
                    "this. The weight is\n\n$$w = 1$$\n\nAfter.\n\n$$w = 2$$",
                    "## Exercises\n\n$$x$$", ("check()", [picture()], {}), "## Summary\n\n1. "
                    "One.\n2. Two.\n\n**The formula to keep:** $w$\n\n| a |\n|---|")
    slides = deck(card, made)
    assert [slide.heading for slide in slides] == ["01 · Counting", "Words", "Weights", "Summary",
                                                   "The formula to keep"]
    opening, words, weights, summary, keep = slides
    assert card.question in opening.sentence and opening.body == "- count words\n- draw a line"
    assert words.sentence == "The line is straight & rises."
    assert words.question == "**Predict.** Up or down?" and words.cell == 2
    assert words.output is made.cells[2].outputs[0] and words.notes == (
        "It rises. So it goes.", "First this. The weight is", "After.")
    assert (weights.sentence, weights.body) == ("The weight is", "$$w = 1$$")
    assert summary.body == "1. One.\n2. Two." and keep.body == "$w$"


def test_a_section_shows_a_picture_rather_than_a_formula_the_last_of_a_cell_and_no_old_question(
        card, notebook, picture):
    slides = deck(card, notebook("## Words\n\n$$a$$", ("plot()", [picture()], {}),
                                 "**Predict.** And then?\n\n## B", ("plot()", [picture()], {})))
    assert [slide.body for slide in slides[1:]] == ["", ""]
    assert slides[1].notes == ("**Predict.** And then?",) and slides[2].question == ""
    first, last = (picture(f"Bars of the {n} set, by encoder.") for n in ("first", "second"))
    slide = deck(card, notebook("## Board", ("board()", [first, last], {})))[1]
    assert slide.output.data["text/plain"].startswith("Bars of the second")


@pytest.mark.parametrize("alt, finding",
                         [("Line chart of a against b. It rises; then it falls. So do others.",
                           "It rises; then it falls. So do others."),
                          ("Map of many words: countries form islands.", "Countries form islands."),
                          ("Bars by rank, both axes log", "Bars by rank, both axes log")])
def test_the_finding_is_what_the_alt_text_says_after_the_kind(card, notebook, picture, alt,
                                                              finding):
    assert deck(card, notebook(("plot()", [picture(alt)], {})))[1].sentence == finding


def test_marks_give_the_sentence_drop_a_picture_and_add_tables_prints_and_formulas(card, notebook,
                                                                                   picture, table):
    from nbformat.v4 import new_output

    printed = new_output("stream", text="42\n")
    made = notebook("## A", ("plot()", [picture()], {"slide": "Words are rare."}),
                    ("plot()", [picture()], {"slide": False}),
                    ("show()", [printed, table], {"slide": "Seven."}), ("show()", [table], {}),
                    ("print(42)", [printed], {"slide": True}),
                    ("The loss is\n\n$$l$$", {"slide": "One loss."}), "## B\n\nText.",
                    ("$$never$$", {"slide": False}))
    slides = deck(card, made)[1:]
    assert [slide.sentence for slide in slides] == ["Words are rare.", "Seven.", "", "One loss."]
    assert slides[1].output is made.cells[3].outputs[1] and slides[
        2].output.text == "42\n" and slides[3].body == "$$l$$"


@pytest.mark.parametrize("cell, kind",
                         [(("x = 1", [], {"slide": "Look."}), "no output"),
                          (("Plain text.", {"slide": "Look."}), "no displayed formula")])
def test_a_mark_on_a_cell_that_shows_nothing_is_refused(card, notebook, cell, kind):
    with pytest.raises(DamagedFile,
                       match=f"lesson counting: cell 2 is marked as a slide and .*{kind}"):
        deck(card, notebook("## A", cell))


def test_a_question_of_a_code_cell_waits_for_the_folded_answer_even_in_the_next_section(
        card, notebook, picture):
    from nbformat.v4 import new_output

    asked = new_output("display_data", {"text/markdown": "**Predict.** Up or down?"})
    answer = {"tags": ["hide-output"]}
    made = notebook("## A", ("ask(); plot()", [asked, picture()], {}), "## B",
                    ("plot()", [picture()], {}), ("plot()", [picture()], answer),
                    ("plot()", [picture()], answer))
    assert [slide.question for slide in deck(card, made)[1:]] == [
        "", "", "**Predict.** Up or down?", ASK]


def test_too_many_slides_are_refused_with_the_remedy(card, notebook, picture):
    cells = [("plot()", [picture()], {})] * MAX_SLIDES
    assert len(deck(card, notebook(*cells[1:]))) == MAX_SLIDES
    with pytest.raises(DamagedFile,
                       match="lesson counting has 21 slides, at most 20; mark .* slide: false"):
        deck(card, notebook(*cells))


def test_a_text_falls_into_headings_paragraphs_formulas_and_code():
    text = ("## A\nwith text\n\none\ntwo\n\n$$a\n\nb$$ and on\n\n- x\n- y\n\n"
            "```python\n\n# no heading\n```")
    assert blocks(text) == ["## A\nwith text", "one\ntwo", "$$a\n\nb$$", "and on", "- x\n- y",
                            "```python\n\n# no heading\n```"]


@pytest.mark.parametrize("lesson", REAL.ids())
def test_every_lesson_makes_a_deck_with_one_thing_to_look_at_on_each_slide(lesson):
    card = REAL.card(lesson)
    slides = deck(card, read_notebook(card.notebook))
    assert 5 <= len(slides) <= MAX_SLIDES and [slide.cell for slide in slides] == sorted(
        slide.cell for slide in slides)
    assert slides[-1].heading == "Told in one table"
    assert ASK not in {slide.question for slide in slides}
    for slide in slides:
        assert slide.heading and (slide.output is not None) != bool(slide.body)
        assert len(slide.sentence.split()) <= 60 and slide == replace(slide)
