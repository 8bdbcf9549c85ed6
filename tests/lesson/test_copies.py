"""The reader's copies: made once, and brought up to date without losing what was written."""

from __future__ import annotations

import subprocess

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lessons_lib.core import PROJECT
from lessons_lib.lesson.copies import COURSE_FOLDER, EARLIER, WORK, merged, renew_copies


def notebook(*sources: str) -> nbformat.NotebookNode:
    """Code cells, with ids that follow from their sources as in a built lesson."""
    cells = [new_code_cell(source, id=f"c-{abs(hash(source))}") for source in sources]
    return new_notebook(cells=cells, metadata={"jupytext": {"formats": "ipynb,md:myst"}})


def sources(made: nbformat.NotebookNode) -> list[str]:
    return [cell.source for cell in made.cells]


@pytest.fixture
def course(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write(folder / "01_one.ipynb", notebook("a", "answer = None", "z"))
    write(folder / "glossary.ipynb", notebook("words"))
    (folder / "01_one.md").write_text("text", "utf-8")
    return folder


def write(path, made):
    path.write_text(nbformat.writes(made), "utf-8")


def test_copies_are_made_once_without_the_pair_and_the_course_stays_as_it_is(course, tmp_path):
    work = tmp_path / "work"
    before = {path.name: path.read_bytes() for path in course.iterdir()}
    assert renew_copies(course, work) == {"01_one.ipynb": "copied", "glossary.ipynb": "copied"}
    assert renew_copies(course, work) == {}
    assert sorted(path.name for path in work.iterdir() if path.name[0] != ".") == [
        "01_one.ipynb", "glossary.ipynb"]
    assert "jupytext" not in nbformat.read(work / "01_one.ipynb", 4).metadata
    assert before == {path.name: path.read_bytes() for path in course.iterdir()}
    (work / "01_one.ipynb").unlink()
    assert renew_copies(course, work) == {"01_one.ipynb": "copied"}, "deleted: begun anew"


def test_an_update_keeps_answers_outputs_and_own_cells(course, tmp_path):
    work = tmp_path / "work"
    renew_copies(course, work)
    mine = nbformat.read(work / "01_one.ipynb", 4)
    mine.cells[0].outputs = [new_output("stream", text="kept")]
    mine.cells[1].source = "answer = 7"
    mine.cells.insert(2, new_markdown_cell("my note"))
    write(work / "01_one.ipynb", mine)
    write(course / "01_one.ipynb", notebook("new", "a", "answer = None", "z, better"))
    assert renew_copies(course, work) == {"01_one.ipynb": "updated"}
    made = nbformat.read(work / "01_one.ipynb", 4)
    assert sources(made) == ["new", "a", "answer = 7", "my note", "z, better"]
    assert made.cells[1].outputs[0].text == "kept"
    assert nbformat.read(work / COURSE_FOLDER / "before" / "01_one.ipynb", 4) == mine
    write(course / "01_one.ipynb", notebook("new", "a", "answer = 'None'", "z, better"))
    renew_copies(course, work)
    assert sources(nbformat.read(work / "01_one.ipynb", 4)) == [
        "new", "a", "answer = 'None'", f"# {EARLIER}\nanswer = 7", "my note", "z, better"]


def test_a_copy_that_cannot_be_read_is_left_alone(course, tmp_path):
    work = tmp_path / "work"
    renew_copies(course, work)
    (work / "01_one.ipynb").write_text('{"cells": [', "utf-8")
    write(course / "01_one.ipynb", notebook("new"))
    assert renew_copies(course, work)["01_one.ipynb"].startswith("left as it is")
    assert (work / "01_one.ipynb").read_text("utf-8") == '{"cells": ['


LETTERS = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True)


@given(base=LETTERS, new=LETTERS, data=st.data())
def test_nothing_that_a_reader_wrote_is_lost_and_a_second_merge_changes_nothing(base, new, data):
    old, latest, mine = notebook(*base), notebook(*new), notebook(*base)
    wrote = []
    for i, cell in enumerate(mine.cells):
        if data.draw(st.booleans()):
            cell.source = f"answer {i}"
            wrote.append(cell.source)
    for i in range(data.draw(st.integers(0, 3))):
        own = new_code_cell(f"own {i}")
        mine.cells.insert(data.draw(st.integers(0, len(mine.cells))), own)
        wrote.append(own.source)
    made = merged(old, mine, latest)
    text = "\n".join(sources(made))
    assert all(text.count(part) == 1 for part in wrote)
    assert [s for s in sources(made) if s in new] == [s for s in new if s in sources(made)]
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    assert sources(merged(latest, made, latest)) == sources(made)
    assert sources(merged(old, made, latest)) == sources(made), "after a start that was cut off"
    assert sources(merged(old, notebook(*base), latest)) == new, "who wrote nothing has the new one"


def test_a_cell_that_the_course_moved_is_found_again_by_its_id():
    """The course moved "c" to the front and changed nothing in it; "a" was answered and is gone."""
    old, mine, latest = notebook("a", "b", "c"), notebook("a", "b", "c"), notebook("c", "b")
    mine.cells[0].source = "answer"
    mine.cells[2].outputs = [new_output("stream", text="kept")]
    made = merged(old, mine, latest)
    assert sources(made) == ["c", f"# {EARLIER}\nanswer", "b"]
    assert made.cells[0].outputs[0].text == "kept"
    assert sources(merged(old, made, latest)) == sources(made)


def test_git_does_not_see_the_copies():
    done = subprocess.run(["git", "check-ignore", "-q", str(WORK / "01_one_hot.ipynb")],
                          cwd=PROJECT)
    assert done.returncode == 0
