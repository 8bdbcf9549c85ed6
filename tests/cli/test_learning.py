"""``lessons cards`` and ``lessons progress``."""

from __future__ import annotations

import sys

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.lesson.copies import renew_copies


def test_progress_of_the_course_and_of_a_file(lessons, tmp_path):
    code, out, err = lessons("progress", PROJECT / "notebooks" / "01_one_hot.ipynb")
    assert code == 0 and "0 of 6" in out, err
    code, _, err = lessons("progress", tmp_path / "none.ipynb")
    assert code == 2 and "none.ipynb" in err
    (tmp_path / "other.ipynb").write_text('{"cells": [], "metadata": {}}', "utf-8")
    code, _, err = lessons("progress", tmp_path)
    assert code == 2 and "none of these notebooks" in err
    (tmp_path / "cut.ipynb").write_text("{", "utf-8")
    code, out, _ = lessons("progress", tmp_path)
    assert code == 0 and "left out" in out and "cut.ipynb" in out


def test_progress_without_a_name_is_that_of_the_reader_s_copies(lessons, tmp_path, monkeypatch):
    work = tmp_path / "work"
    monkeypatch.setattr("lessons_lib.lesson.copies.WORK", work)
    renew_copies(PROJECT / "notebooks", work)
    copy = work / "01_one_hot.ipynb"
    said = copy.read_text("utf-8").replace(": not attempted", ": correct.", 1)
    copy.write_text(said, "utf-8")
    code, out, err = lessons("progress")
    assert code == 0 and "1 of 6" in out and ".course" not in out, out + err


def test_a_deck_of_chosen_lessons(lessons, tmp_path, monkeypatch):
    code, _, err = lessons("cards", "no_lesson", "--out", tmp_path / "d.apkg")
    assert code == 2 and "no_lesson" in err
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "genanki", None)
        code, _, err = lessons("cards", "--out", tmp_path / "d.apkg")
        assert code == 2 and '".[cards]"' in err
    pytest.importorskip("genanki", reason="of the extra set cards")
    code, out, err = lessons("cards", "1", "one_hot", "--out", tmp_path / "d.apkg")
    assert code == 0 and "one_hot" in out and (tmp_path / "d.apkg").is_file(), err
