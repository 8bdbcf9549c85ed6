"""The otter-grader version: the master notebook always, otter's own run where it is installed."""

from __future__ import annotations

import re

import nbformat
import pytest

from lessons_lib.classroom import assign, otter, otter_missing, write_otter
from lessons_lib.classroom.otter import master_notebook
from lessons_lib.core import BackendUnavailable
from lessons_lib.lesson.course import Course


def test_the_master_marks_solutions_and_hidden_tests():
    notebook = master_notebook(Course().card("one_hot"), seed=77)
    nbformat.validate(notebook)
    raw = [cell.source.split("\n")[0] for cell in notebook.cells if cell.cell_type == "raw"]
    assert raw[0] == "# ASSIGNMENT CONFIG" and raw.count("# BEGIN QUESTION") == raw.count(
        "# END QUESTION") == 7
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(text.startswith("# HIDDEN") and "seed=77" in text for text in code) == 6
    parts = [re.split(r"# BEGIN SOLUTION NO PROMPT\n|# END SOLUTION\n", text) for text in code
             if "# BEGIN SOLUTION" in text]
    told = 0
    for start, solution, rest in parts:          # a faulty function is shown, its mended one not
        lines = [line for line in solution.splitlines() if re.search("return|np.array", line)]
        assert not start and not any(line in rest for line in lines)
        told += len(lines)
    assert told > 3


def test_without_otter_the_command_that_gets_it_is_named(monkeypatch, assignment):
    monkeypatch.setattr(otter.importlib.util, "find_spec", lambda name: None)
    assert re.search(r'pip install -c lessons_lib/locks/classroom_py3\d+\.txt -e "\.\[classroom\]"',
                     otter_missing())
    with pytest.raises(BackendUnavailable, match="otter-grader is not installed"):
        write_otter(assignment)


def test_another_otter_is_refused(monkeypatch):
    monkeypatch.setattr(otter.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(otter.metadata, "version", lambda name: "5.7.1")
    assert otter_missing() == "otter-grader is 5.7.1, the course needs 7.x"


@pytest.mark.slow
@pytest.mark.skipif(otter_missing() is not None, reason="otter-grader is not installed: the extra "
                                                        "set `classroom`")
def test_otter_makes_a_student_version_without_solutions_and_an_autograder(tmp_path):
    made = assign(["one_hot"], tmp_path / "hw", seed=7)
    (folder,) = write_otter(made)
    text = (folder / "student" / "01_one_hot.ipynb").read_text("utf-8")
    assert "np.cumsum" not in text and "seed=7" not in text and "raise NotImplementedError" in text
    assert list((folder / "autograder").glob("*.zip"))
