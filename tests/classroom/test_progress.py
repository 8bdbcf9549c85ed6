"""What a reader has done is read from saved notebooks, whatever else lies beside them."""

from __future__ import annotations

import json

import pytest

from lessons_lib.classroom.progress import notebooks_in, progress
from lessons_lib.core import PROJECT, DataMissing
from lessons_lib.exercises import for_lesson

NAMES = tuple(for_lesson("one_hot"))
MARK = {"lesson": {"id": "one_hot"}}


def notebook(path, *cells, metadata=MARK):
    """A notebook whose cells have a source and what they show."""
    made = [{"cell_type": "code", "source": source, "outputs": list(outputs)}
            for source, *outputs in cells]
    path.write_text(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4}), "utf-8")
    return path


def said(name, verdict, *, by="stream"):
    output = ({"output_type": "stream", "text": [f"{name}: {verdict}\n"]} if by == "stream" else
              {"output_type": "display_data", "data": {"text/plain": f"{name}: {verdict}"}})
    return f'lesson.check("{name}", mine)', output


def test_the_last_verdict_of_each_check_counts(tmp_path):
    done, left_out = progress([notebook(
        tmp_path / "mine-Copy1.ipynb", said(NAMES[0], "3 instead of 4"),
        said(NAMES[0], "correct. Because it is so"), said(NAMES[1], "correct", by="display"),
        said(NAMES[2], "for f(1): 2 instead of 3"), said(NAMES[3], "not attempted yet"),
        said(NAMES[4], "the fault is still there. Look at the curve"))])
    (one,) = done
    assert not left_out and one.lesson == "one_hot"
    assert (one.passed, one.tried, one.left) == (NAMES[:2], NAMES[2:3], NAMES[3:])


def test_what_no_check_said_does_not_count(tmp_path):
    _, verdict = said(NAMES[0], "correct")
    done, _ = progress([notebook(
        tmp_path / "a.ipynb", ("print(1)", verdict), ("lesson.audit()", verdict),
        (f'lesson.check("{NAMES[1]}", mine)', verdict), said("no_exercise", "correct"))])
    assert done[0].left == NAMES


def test_several_notebooks_of_a_lesson_count_together(tmp_path):
    sheet = {"lessons_assignment": {"lesson": "one_hot", "id": "x"}}
    done, _ = progress([notebook(tmp_path / "a.ipynb", said(NAMES[0], "correct")),
                        notebook(tmp_path / "b.ipynb", said(NAMES[0], "5 instead of 4"),
                                 said(NAMES[1], "correct"), metadata=sheet)])
    assert len(done) == 1 and done[0].passed == NAMES[:2] and not done[0].tried


def test_damaged_and_foreign_notebooks_are_left_out_with_a_reason(tmp_path):
    cut = tmp_path / "cut.ipynb"
    cut.write_text('{"cells": [', "utf-8")
    odd = {"cells": [{"source": 7, "outputs": ["x", {"text": 3}, {"data": []}]}, {}],
           "metadata": MARK}
    (tmp_path / "odd.ipynb").write_text(json.dumps(odd), "utf-8")
    other = notebook(tmp_path / "other.ipynb", metadata={"lesson": "text"})
    done, left_out = progress([cut, tmp_path / "odd.ipynb", other])
    assert [one.passed for one in done] == [()]
    assert list(left_out) == [cut] and "no JSON" in left_out[cut]


def test_notebooks_are_found_in_folders_and_copies_of_jupyter_are_not(tmp_path):
    (tmp_path / ".ipynb_checkpoints").mkdir()
    notebook(tmp_path / ".ipynb_checkpoints" / "a.ipynb")
    with pytest.raises(DataMissing, match="no notebook"):
        notebooks_in([tmp_path])
    with pytest.raises(FileNotFoundError):
        notebooks_in([tmp_path / "nowhere"])
    mine = notebook(tmp_path / "a.ipynb")
    assert notebooks_in([tmp_path, mine]) == [mine]


def test_nobody_has_passed_anything_in_the_notebooks_of_the_course():
    done, left_out = progress(notebooks_in([PROJECT / "notebooks"]))
    assert len(done) >= 16 and not left_out
    assert not any(one.passed or one.tried for one in done)
