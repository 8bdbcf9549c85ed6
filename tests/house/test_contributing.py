"""The page for contributors: its drawing is current, its example runs, what it names exists."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lessons_lib
from lessons_lib.core import PROJECT
from lessons_lib.house import BEGINS, ENDS, drawing, write_drawing

from .docstrings import wrong

PAGE = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
ROW = re.compile(r"│ (\w+) .*?(?:  on (.*))?$")


def floors(text):
    """What a drawing says of the rooms, without their sizes."""
    return [ROW.search(line).groups() for line in text.splitlines() if "│" in line]


def test_the_drawing_is_that_of_the_imports():
    page = PAGE.partition(BEGINS)[2].partition(ENDS)[0]
    assert floors(page) == floors(drawing()), "the rooms have changed: lessons house --write"


def test_the_worked_example_does_what_its_test_says(tmp_path):
    code, = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    centring, x = names["Centring"], np.random.default_rng(0).normal(3.0, 1.0, size=(50, 4))
    step = centring().fit(x)
    assert np.abs(step.transform(x).mean(axis=0)).max() < 1e-6
    step.save(tmp_path / "step")
    assert np.array_equal(centring.load(tmp_path / "step").transform(x), step.transform(x))
    assert "share : float >= 0 and <= 1, default 1.0" in centring.__doc__
    assert [wrong(thing) for thing in (centring, centring.fit, centring.transform)] == [[], [], []]
    with pytest.raises(ValueError, match="share=2"):
        centring(share=2).fit(x)


def test_the_page_is_short_and_names_files_that_are_there():
    assert len(PAGE.splitlines()) <= 150
    named = re.findall(r"`((?:lessons_lib|tests|data|notebooks)/[\w/.]*\w)`", PAGE)
    missing = [name for name in named if not (PROJECT / name).exists() and "NN_" not in name
               and name not in ("lessons_lib/exercises/LESSON.py",
                                "lessons_lib/isotropy/centring.py")]
    assert len(named) >= 6 and missing == []
    chart = PAGE.partition("## From texts")[2].partition("## Add")[0]
    for room, name in re.findall(rf"({'|'.join(lessons_lib.ROOMS)})\.(\w+)", chart):
        home = getattr(lessons_lib, room)
        assert hasattr(home, name) or hasattr(getattr(home, "Lesson", None), name), f"{room}.{name}"


def test_a_page_without_the_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match="lessons house"):
        write_drawing(page)
