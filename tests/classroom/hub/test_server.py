"""What starts in place of a student's server: the home, the copy that stays, the limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from lessons_lib.classroom.hub.server import NOTICES, lay_out
from lessons_lib.core import PROJECT

LIMITED = "from lessons_lib.classroom.hub.server import limit; limit(400_000_000, 1_000_000)"


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course" / "notebooks").mkdir(parents=True)
    for name in ("00_start_here.ipynb", "01_one_hot.ipynb", "01_one_hot.md", "glossary.ipynb",
                 "references.bib"):
        (tmp_path / "course" / "notebooks" / name).write_text(f"the course's {name}")
        (tmp_path / "course" / "notebooks" / name).chmod(0o444)
    return tmp_path / "course"


def test_a_home_gets_copies_to_write_in_originals_to_read_and_later_only_what_is_new(
        tmp_path, course):
    home = tmp_path / "anna"
    assert lay_out(home, course) == ["00_start_here.ipynb", "01_one_hot.ipynb", "glossary.ipynb"]
    copy = home / "lessons" / "01_one_hot.ipynb"
    assert copy.read_text() == "the course's 01_one_hot.ipynb" and copy.stat().st_mode & 0o200
    assert (home / "course" / "01_one_hot.md").read_text() == "the course's 01_one_hot.md"
    copy.write_text("mine")
    (course / "notebooks" / "02_bag_of_words.ipynb").write_text("new")
    assert lay_out(home, course) == ["02_bag_of_words.ipynb"] and copy.read_text() == "mine"


def test_nobody_is_asked_about_news_and_who_wants_them_keeps_that(tmp_path, course):
    home = tmp_path / "anna"
    lay_out(home, course)
    assert json.loads((home / NOTICES).read_text("utf-8")) == {"fetchNews": "false"}
    (home / NOTICES).write_text('{"fetchNews": "true"}')
    lay_out(home, course)
    assert json.loads((home / NOTICES).read_text("utf-8")) == {"fetchNews": "true"}


def test_an_assignment_is_handed_out_once_and_what_a_student_made_of_it_stays(tmp_path, course):
    lay_out(tmp_path / "anna", course)
    lessons = tmp_path / "anna" / "lessons"
    (course / "notebooks" / "hw1").mkdir()
    (course / "notebooks" / "hw1" / "01_one_hot.ipynb").write_text("stubs")
    assert lay_out(tmp_path / "anna", course) == ["hw1/01_one_hot.ipynb"]
    assert (lessons / "01_one_hot.ipynb").read_text() != "stubs"
    (lessons / "hw1" / "01_one_hot.ipynb").write_text("mine")
    assert lay_out(tmp_path / "anna", course) == []
    assert (lessons / "hw1" / "01_one_hot.ipynb").read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_process_that_wants_more_memory_gets_an_error_and_goes_on():
    code = f"""{LIMITED}
import numpy as np
np.zeros(10_000_000)
try:
    np.ones(100_000_000)
except MemoryError:
    print("went on")"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=PROJECT).stdout == "went on\n"


@pytest.mark.skipif(os.name != "posix", reason="the hub runs on POSIX")
def test_a_file_that_grows_too_long_is_an_error_too(tmp_path):
    code = f"{LIMITED}\nopen({str(tmp_path / 'long')!r}, 'wb').write(bytes(2_000_000))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT)
    assert "File too large" in done.stderr and (tmp_path / "long").stat().st_size <= 1_000_000
