"""What is told about a lesson that stopped: section, last lines, and one thing to do."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lessons_lib.publish.failure import Failure, death_of, last_lines, section_of, what_to_do


def test_the_section_is_the_nearest_heading_above_the_cell():
    cells = [new_markdown_cell("# Title\n\n## First\n\ntext"), new_code_cell("1"),
             new_markdown_cell("no heading\n\n```\n# a comment\n```"), new_code_cell("2"),
             new_markdown_cell("### Second"), new_code_cell("3")]
    notebook = new_notebook(cells=cells)
    assert [section_of(notebook, i) for i in (1, 3, 5)] == ["First", "First", "Second"]
    assert section_of(new_notebook(cells=[new_code_cell("1")]), 0) == ""


def test_the_last_lines_have_no_colour_and_name_the_line_of_the_cell():
    deep = "\n".join(f"     {i} line" for i in range(20))
    parts = ["\x1b[31m" + "-" * 75 + "\x1b[39m",
             "\x1b[31mValueError\x1b[39m          Traceback (most recent call last)",
             "Cell In[3], line 2\n      1 x = 1\n\x1b[32m----> 2\x1b[39m fit(x)",
             f"File a.py:9, in fit(x)\n{deep}\n---> 9 raise", "ValueError: no"]
    lines = last_lines(parts)
    assert (lines[:2] == ("----> 2 fit(x)", "…")
            and lines[-2:] == ("---> 9 raise", "ValueError: no") and len(lines) == 10)
    assert last_lines(parts[:3] + parts[4:]) == ("Cell In[3], line 2", "      1 x = 1",
                                                 "----> 2 fit(x)", "ValueError: no")
    assert max(map(len, last_lines(["x" * 500]))) == 120


@pytest.mark.parametrize(("code", "words"), [(-9, "memory"), (-11, "SIGSEGV"), (3, "status 3"),
                                             (None, "by itself")])
def test_the_death_of_a_kernel_is_told_in_words(code, words):
    assert words in death_of(code)


@pytest.mark.parametrize(("error", "words"), [
    ("DataMissing: sts12 is not here.\nGet it: `lessons data get sts12`",
     "python -m lessons_lib data get sts12"),
    ("ModuleNotFoundError: No module named 'gensim'", "doctor"), ("MemoryError", "--jobs 1"),
    (f"DeadKernelError: {death_of(-9)}", "run counts --jobs 1"),
    ("CellTimeoutError: the cell took longer than 300 s", "--scale smoke"),
    ("OSError: cannot write a: No space left on device; LESSONS_CACHE moves the folder",
     "LESSONS_CACHE"),
    ("AssertionError: the margin is 0.03", "report it"),
    ("AssertionError", "python -m lessons_lib run counts."),
    ("ZeroDivisionError: division by zero", "report it")])
def test_there_is_one_thing_to_do_for_each_kind_of_error(error, words):
    assert words in what_to_do(error, lesson="counts", scale="laptop")
    smoke = what_to_do(error, lesson="counts", scale="smoke")       # is not advised to smoke
    assert smoke.count("--scale smoke") == (words not in ("doctor", "LESSONS_CACHE")
                                            and "data get" not in words)


def test_a_failure_prints_only_what_is_known():
    assert str(Failure("counts", "", None, 3, ("the kernel did not start",), to_do="Look")) == (
        "counts stopped\n  error     the kernel did not start\n  to do     Look")
