"""The page at each start: every lesson, the checks that passed, where the reader left off."""

from __future__ import annotations

import json
import os
import re

import pytest

from lessons_lib.classroom.start_page import PLAY, write_start_page
from lessons_lib.lesson.copies import renew_copies
from lessons_lib.lesson.course import Course

COURSE = Course()


@pytest.fixture
def work(tmp_path):
    renew_copies(COURSE.notebooks, tmp_path)
    return tmp_path


def page_of(work):
    page = write_start_page(COURSE, work)
    assert page == work / "course.md"
    return page.read_text("utf-8")


def change(copy, old, new):
    text = copy.read_text("utf-8")
    assert old in text
    copy.write_text(text.replace(old, new), "utf-8")


def test_a_newcomer_is_sent_to_the_sentences_to_play_with(work):
    text = page_of(work)
    assert "Begin here" in text and "you are here" not in text and "begun" not in text
    assert all(f"({card.notebook.name})" in text and card.question in text
               for card in COURSE.cards())
    first = COURSE.cards()[0]
    assert f"\n## {PLAY}\n" in first.path.read_text("utf-8"), "the heading that the link names"
    assert f"({first.notebook.name}#{PLAY.replace(' ', '-')})" in text


def test_what_was_done_and_the_lesson_that_was_saved_last(work):
    bag, one_hot = work / "02_bag_of_words.ipynb", work / "01_one_hot.ipynb"
    change(one_hot, ": not attempted", ": correct.")
    change(one_hot, ": the fault is still there.", ": correct.")
    change(bag, "not attempted", "not yet")
    os.utime(one_hot, (9e9, 9e9))                # saved after the other
    rows = {row.split(" | ")[0]: row for row in page_of(work).splitlines() if row[:3] == "| ["}
    one_hot, bag = (next(row for name, row in rows.items() if title in name)
                    for title in ("One-hot", "Bag of words"))
    assert "you are here" in one_hot and re.search(r"✓ all \d+ \|$", one_hot)
    assert "| begun |" in bag and re.search(r" 0 of \d+ \|$", bag)
    assert sum("begun" in row or "here |" in row for row in rows.values()) == 2
    assert "**Go on with [01 · One-hot vectors](01_one_hot.ipynb)** (checks passed: ✓ all" in (
        page_of(work))


def test_a_damaged_copy_is_no_lesson_that_was_begun(work):
    (work / "03_topic_models.ipynb").write_text("{", "utf-8")
    (work / "04_word2vec.ipynb").write_text(json.dumps({"cells": [3]}), "utf-8")
    (work / "05_glove_and_fasttext.ipynb").unlink()
    assert "Begin here" in page_of(work)


def test_a_file_of_the_reader_s_own_stays(work):
    (work / "course.md").write_text("my notes", "utf-8")
    assert write_start_page(COURSE, work) is None
    assert (work / "course.md").read_text("utf-8") == "my notes"
