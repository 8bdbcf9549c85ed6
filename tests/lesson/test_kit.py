"""Guesses, own texts, watched trainings and small tables: complete without widgets, alive with."""

from __future__ import annotations

import asyncio
import math
import time

import numpy as np
import pytest

from lessons_lib.core import UnknownWord
from lessons_lib.lesson.explore import bound
from lessons_lib.lesson.try_it import NO_RESULT
from lessons_lib.lesson.typed import MAX_CHARS, PAUSE_SECONDS, Pause
from lessons_lib.plots import ENCODERS

from .conftest import ALT, line

CHOICES = ["a rare word", "the article: a"]


def texts(displayed):
    return [data.get("text/plain", "") for data, _ in displayed if isinstance(data, dict)]


# ------------------------------------------------------------------------------ predictions


def test_without_buttons_a_prediction_is_a_list_and_the_answer_needs_no_guess(lesson, displayed):
    guess = lesson.predict("Which norm falls?", CHOICES)
    assert texts(displayed) == ["**Predict.** Which norm falls?\n- a. a rare word\n"
                                "- b. the article: a"]
    guess.answer("the article: a")
    guess.answer(np.int64(0))
    assert texts(displayed)[1:] == ["**The answer: b. the article: a.**",
                                    "**The answer: a. a rare word.**"]


@pytest.mark.parametrize(("mine", "said"), [
    ("b", " You predicted this."), (" The article: A", " You predicted this."),
    ("a", " You predicted a. a rare word."), ("z", ""), ("", ""), (3, ""), (None, "")])
def test_a_guess_can_be_written_into_the_call_and_a_strange_one_is_none(lesson, displayed, mine,
                                                                        said):
    lesson.predict("Which norm falls?", CHOICES, guess=mine).answer(1)
    assert texts(displayed)[-1] == "**The answer: b. the article: a.**" + said


def test_a_pressed_button_is_the_guess_and_belongs_to_its_own_question(lesson, displayed, live):
    first, other = (lesson.predict(question, CHOICES) for question in ("One?", "Two?"))
    buttons = [data.children[0] for data, _ in displayed if not isinstance(data, dict)]
    buttons[0].value = 0
    assert (first.guess, other.guess) == (0, None)
    first.answer(0)
    other.answer(0)
    assert texts(displayed)[-2:] == ["**The answer: a. a rare word.** You predicted this.",
                                     "**The answer: a. a rare word.**"]


# ------------------------------------------------------------------------------ own text


def count(text):
    return None if text.isnumeric() else f"{len(text.split())} words"


def typed(lesson, displayed, function, *values, **options):
    """What is displayed after each text typed into the first box."""
    default = options.pop("default", "a rose is a rose")
    lesson.try_it(function, "your sentence", default=default, **options)
    box = displayed[0][0].children[0]
    said = []
    for value in values:
        box.value = value
        said.append(displayed[-1][0]["text/plain"])
    return said


def test_the_default_is_shown_with_how_to_start_where_nobody_can_type(lesson, displayed):
    lesson.try_it(count, "your sentence", default="a rose")
    shown, note = texts(displayed)
    assert shown == "2 words" and "python -m lessons_lib lab" in note


def test_typing_changes_the_result_in_place_and_nothing_ends_in_a_traceback(lesson, displayed,
                                                                           live):
    strange = ["one", "", "  \n", "x" * (MAX_CHARS + 1), "🌹 🌹🌹", "玫瑰 就是", "1"]
    said = typed(lesson, displayed, count, *strange)
    assert displayed[0][0].children[0].placeholder == "type here: your sentence"
    assert displayed[-1][1]["updated"] and said[0] == "1 words"
    assert said[1] == said[2] == "Type something into “your sentence”."
    assert said[3].startswith("“your sentence” holds 2,001 characters; at most 2,000")
    assert said[4:] == ["2 words", "2 words", NO_RESULT]


@pytest.mark.parametrize(("error", "said"), [
    (ValueError("no word of it is known"), "no word of it is known"), (ValueError(), NO_RESULT),
    (UnknownWord("no vector for 'x'; near words: 'y'"), "no vector for 'x'; near words: 'y'"),
    (KeyError("rose"), "This text cannot be shown (KeyError: 'rose'). Try another.")])
def test_an_error_of_the_lesson_is_a_sentence_for_the_reader(lesson, displayed, live, error, said):
    def function(text):
        if text != "fine":
            raise error
        return text

    assert typed(lesson, displayed, function, "other", default="fine") == [said]


def test_two_boxes_and_a_table_or_a_picture(lesson, displayed, live):
    def compare(a, b):
        return lesson.table([["word2vec", len(a) / len(b)]], ["encoder", "ratio"], show=False)

    lesson.try_it(compare, "first", "second", default=("abcd", "ab"))
    _first, other = displayed[0][0].children
    other.value = "abcde"
    assert "0.80" in displayed[-1][0]["text/html"]
    lesson.try_it(lambda text: line(len(text)), "a text", default="abc" * 40, id="tried", alt=ALT)
    assert type(displayed[-3][0].children[0]).__name__ == "Textarea", "a long default"
    assert displayed[-1][0]["text/plain"] == ALT and "image/svg+xml" in displayed[-1][0]


def test_only_the_last_key_of_a_fast_hand_draws_and_within_300_milliseconds():
    calls = []

    async def hand():
        pause = Pause(lambda: calls.append(time.perf_counter()))
        for _ in range(5):
            last = time.perf_counter()
            pause()
            await asyncio.sleep(0.01)
        await asyncio.sleep(2 * PAUSE_SECONDS)
        return last

    last = asyncio.run(hand())
    assert len(calls) == 1 and calls[0] - last >= PAUSE_SECONDS * 0.9
    assert PAUSE_SECONDS <= 0.2


def test_a_control_keeps_what_names_meant_when_its_cell_ran():
    cell = {"__name__": "__main__"}
    exec("scale = 2\ndef twice(x): return scale * x\n"
         "def shown(x, *, plus=1): return twice(x) + plus", cell)
    kept = bound(cell["shown"])
    exec("scale = 100\ndef twice(x): return 'another'", cell)
    assert kept(4) == 9 and kept(4, plus=2) == 10 and cell["shown"].__globals__ is cell
    assert bound(count) is count and bound(len) is len, "only a notebook's names change"


# ------------------------------------------------------------------------------ trainings


def test_a_training_leaves_one_picture_of_all_its_points(lesson, displayed):
    with lesson.watch("It learns", id="learning", alt=ALT) as watch:
        for step in range(5):
            watch(step, 1 / (step + 1), score=step if step % 2 == 0 else None)
    assert len(displayed) == 1 and displayed[0][0]["text/plain"] == ALT
    assert "image/svg+xml" in displayed[0][0]
    assert watch.steps == [0, 1, 2, 3, 4] and watch.scores == [0, None, 2, None, 4]
    left, right = watch.figure().axes
    assert list(right.lines[0].get_ydata()) == [0, 2, 4] and len(left.lines[0].get_xdata()) == 5


def test_losses_that_need_no_training_are_dashed_lines_beside_the_loss_alone(lesson, displayed):
    with lesson.watch("It learns", id="learning", alt=ALT, levels={"ln V": 2.5}) as watch:
        for step in range(3):
            watch(step, 3 - step, score=step)
    left, right = watch.figure().axes
    assert list(left.lines[1].get_ydata()) == [2.5, 2.5] and len(right.lines) == 1
    assert "ln V" in [text.get_text() for text in left.texts]


def test_a_live_training_is_redrawn_in_place_and_not_at_every_step(lesson, displayed, live):
    with lesson.watch("It learns", id="learning", alt=ALT) as watch:
        for step in range(20):
            watch(step, math.nan if step == 3 else 1.0)
    frames = [data for data, keywords in displayed if keywords.get("updated")]
    assert len(displayed) == 1 + len(frames) and 2 <= len(frames) <= 10
    assert "image/svg+xml" in frames[-1] and "image/svg+xml" not in frames[0]
    assert len(watch.figure().axes) == 1, "no score, no second panel"


def test_a_training_that_stops_shows_how_far_it_came_and_an_empty_one_nothing(lesson, displayed):
    with pytest.raises(KeyboardInterrupt), \
            lesson.watch("It learns", id="learning", alt=ALT) as watch:
        watch(1, 0.5)
        raise KeyboardInterrupt
    assert len(displayed) == 1
    with lesson.watch("It learns", id="learning", alt=ALT):
        pass
    assert len(displayed) == 1


# ------------------------------------------------------------------------------ tables


def test_a_column_of_a_lesson_s_table_has_one_precision_and_encoders_their_names(lesson):
    rows = [["word2vec", 65.4321, 0.1234, 12000, None], ["GloVe, 300", 7.0, 0.9, 5, 0.00123]]
    table = lesson.table(rows, ["encoder", "score", "cosine", "tokens", "rate"], show=False)
    assert table.to_text().splitlines()[2:] == [
        "word2vec     65.4    0.12  12,000       –", "GloVe, 300    7.0    0.90       5  0.0012"]
    assert "GloVe" in ENCODERS and "text-align:right\">65.4<" in table.to_html()


def test_what_rounds_to_nothing_has_no_sign(lesson):
    rows = [["before", 0.6612], ["after", -0.0003]]
    table = lesson.table(rows, ["vectors", "cosine"], show=False)
    assert table.to_text().splitlines()[-1] == "after      0.00"


@pytest.mark.parametrize(("rows", "columns", "words"), [
    ([[k] for k in range(7)], ["n"], ("7 rows; at most 6", "make two tables")),
    ([range(6)], list("abcdef"), ("6 columns; at most 5",)),
    ([["skipgram", 1]], ["encoder", "score"], ("encoder='skipgram'", "word2vec"))])
def test_a_table_beyond_its_limits_is_refused_with_the_remedy(lesson, displayed, rows, columns,
                                                              words):
    with pytest.raises(ValueError) as caught:
        lesson.table(rows, columns)
    assert all(word in str(caught.value) for word in words) and displayed == []
