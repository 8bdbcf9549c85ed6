"""Every lesson as a restless reader has it: each cell is run twice, then each control is moved to
its ends and back. Nothing stops, every control shows something else, and comes back to what its
cell showed though all later cells have run.
"""

from __future__ import annotations

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lessons_lib import publish
from lessons_lib.lesson.course import Course

COURSE = Course()
BEFORE = ("from tests.notebooks.controls import moved as _moved, watched as _watched\n"
          "_outputs = _watched()")
AFTER = "import json as _json\nprint('moved ' + _json.dumps(await _moved(_outputs)))"
STRANGE = "cannot be shown ("                    # what `lesson.try_it` says of an error


def twice(notebook):
    """The code cells of a lesson, each two times, between what watches and what moves."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    sources = [BEFORE, *(source for one in cells for source in (one, one)), AFTER]
    made = new_notebook(cells=[new_code_cell(source) for source in sources])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    return made


def controls_of(notebook):
    """What the last cell says of every control that has a name; buttons of a prediction have none.
    """
    said = "".join(output.text for output in notebook.cells[-1].outputs
                   if output.output_type == "stream" and output.name == "stdout")
    return [control for control in json.loads(said.removeprefix("moved ")) if control["name"]]


def complaints(control):
    """What is wrong with a control, in words."""
    if bad := [step for step in control["steps"]
               if not step["text"] or STRANGE in step["text"] or "Error: " in step["text"]]:
        yield f"at {bad[0]['to']!r} it shows {bad[0]['text']!r}"
    if len({step["picture"] for step in control["steps"]}) < 2:
        yield "it changes nothing"
    if not control["back"]:
        yield "it does not come back to what its cell showed"
    if len(control["name"]) < 3:
        yield "its name is no word"


@pytest.mark.slow
@pytest.mark.parametrize("lesson", COURSE.ids())
def test_every_cell_runs_twice_and_every_control_moves(lesson, monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    notebook = twice(nbformat.read(COURSE.card(lesson).notebook, as_version=4))
    result = publish.run_lesson(notebook, lesson, scale="smoke")
    assert result.ok, str(result.failure)
    found = controls_of(notebook)
    assert found, "a lesson without a control"
    wrong = {f"{control['name']} ({control['kind']}, place {control['box']})": said
             for control in found if (said := list(complaints(control)))}
    assert not wrong


def test_what_is_wrong_with_a_control_is_said():
    steps = [{"to": "1", "text": "a line", "picture": 1}, {"to": "2", "text": "", "picture": 1}]
    assert list(complaints({"name": "q", "steps": steps, "back": False})) == [
        "at '2' it shows ''", "it changes nothing",
        "it does not come back to what its cell showed", "its name is no word"]
    steps = [{"to": "1", "text": "a line", "picture": 1}, {"to": "2", "text": "b", "picture": 2}]
    assert not list(complaints({"name": "slope", "steps": steps, "back": True}))
