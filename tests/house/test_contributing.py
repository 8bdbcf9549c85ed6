"""The page for contributors: its drawing is current, its example runs, its files and commands are."""

from __future__ import annotations

import re

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.house import BEGINS, ENDS, drawing, write_drawing

PAGE = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
ROW = re.compile(r"│ (\w+) .*?(?:  on (.*))?$")


def floors(text):
    """What a drawing says of the rooms, without their sizes."""
    return [ROW.search(line).groups() for line in text.splitlines() if "│" in line]


def test_the_drawing_is_that_of_the_imports():
    page = PAGE.partition(BEGINS)[2].partition(ENDS)[0]
    assert floors(page) == floors(drawing()), "the rooms have changed: lessons house --write"


def test_the_worked_example_does_what_its_test_says(tmp_path):
    code, test = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    exec(test, names)
    names["test_what_is_centred_has_mean_zero_and_comes_back_from_a_file"](tmp_path)
    assert "share : float >= 0 and <= 1, default 1.0" in names["Centring"].__doc__
    with pytest.raises(ValueError, match="share=2"):
        names["Centring"](share=2).fit([[1.0]])


def test_the_page_is_short_and_names_files_that_are_there():
    assert len(PAGE.splitlines()) <= 150
    named = re.findall(r"`((?:lessons_lib|tests|data|notebooks)/[\w/.]*\w)`", PAGE)
    missing = [name for name in named if not (PROJECT / name).exists() and "NN_" not in name
               and name not in ("lessons_lib/exercises/LESSON.py",
                                "lessons_lib/isotropy/centring.py")]
    assert len(named) >= 6 and missing == []


def test_a_page_without_the_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match="lessons house"):
        write_drawing(page)
