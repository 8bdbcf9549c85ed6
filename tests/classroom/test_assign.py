"""Assignments: every exercise is in, no solution is out, the solved copies get all points."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
from unittest.mock import MagicMock

import nbformat
import numpy as np
import pytest

from lessons_lib.classroom import assign, grade, open_questions, read_assignment, tasks_of
from lessons_lib.classroom.assign import solved_notebook
from lessons_lib.classroom.tasks import student_notebook
from lessons_lib.core import DamagedFile
from lessons_lib.exercises import for_lesson, solution_text, stems
from lessons_lib.lesson.course import Course

LESSONS = [lesson for lesson in Course().ids() if lesson in stems()]


def code_of(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_exercise_of_a_lesson_becomes_a_task_with_text_stub_and_answer(lesson):
    tasks = tasks_of(Course().card(lesson))
    assert {task.name for task in tasks} == set(for_lesson(lesson))
    assert len(tasks) == len(for_lesson(lesson))
    for task in tasks:
        names = {node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.targets[0])
                 for node in ast.parse(task.stub).body if isinstance(node,
                                                                     (ast.FunctionDef, ast.Assign))}
        assert task.variable in names and task.text.startswith(f"**`{task.name}`")
        assert "lesson." not in task.stub and ".ipynb" not in task.text
        # it runs in the student's notebook, where the lesson's data are not
        exec(task.stub, {"np": np} | dict.fromkeys(("torch", "triton", "tl"), MagicMock()))
    assert open_questions(Course().card(lesson))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_students_notebook_holds_no_solution_and_runs_nothing_but_stubs(lesson):
    card = Course().card(lesson)
    notebook = student_notebook(card, "abc")
    nbformat.validate(notebook)
    text, stubs = "\n".join(cell.source for cell in notebook.cells), "\n".join(
        task.stub for task in tasks_of(card))
    assert "lesson." not in "\n".join(code_of(notebook))
    assert "seed" not in text.lower().replace("seed of", "") and "solution(" not in text
    for exercise in for_lesson(lesson).values():
        if callable(exercise.solution):
            own = [line.strip() for line in solution_text(exercise).splitlines()[1:]]
            told = [line for line in own if len(line) > 25 and line in text and line not in stubs]
            assert told == [], exercise.name
        elif len(solution_text(exercise)) > 4:  # a number of one digit may stand anywhere
            assert solution_text(exercise) not in text


@pytest.mark.parametrize("lesson", [pytest.param(i, marks=pytest.mark.slow) if i == "gpu_kernels"
                                    else i for i in LESSONS])
def test_the_solved_copy_gets_all_points_and_the_stubs_none(lesson, confined, tmp_path):
    made = assign([lesson], tmp_path / "hw", seed=7)
    stem = made.lessons[lesson]["stem"]
    shutil.copy(made.folder / "grading" / f"{stem}_solved.ipynb",
                made.folder / "submissions" / "solved.ipynb")
    shutil.copy(made.folder / "student" / f"{stem}.ipynb",
                made.folder / "submissions" / "untouched.ipynb")
    rows = [row for row in grade(read_assignment(made.folder)) if row.points is not None]
    assert {row.remark for row in rows if row.student == "solved"} == {"correct"}
    untouched = {row.remark for row in rows if row.student == "untouched"}
    assert "not attempted yet" in untouched     # code with a planted fault is told its symptom
    assert all(remark == "not attempted yet" or remark.startswith("the fault is still there")
               for remark in untouched)
    assert sum(row.points for row in rows) == len(for_lesson(lesson)) == len(rows) / 2


def test_the_folder_holds_what_the_teacher_needs_and_the_seed_stays_there(assignment):
    names = sorted(path.relative_to(assignment.folder).as_posix()
                   for path in assignment.folder.rglob("*") if path.is_file())
    assert names == [".gitignore", "README.md", "grading/01_one_hot_solved.ipynb",
                     "grading/assignment.json", "student/01_one_hot.ipynb"]
    assert (assignment.folder / "submissions").is_dir()
    assert "lessons grade hw1" in (assignment.folder / "README.md").read_text("utf-8")
    if os.name == "posix":
        assert stat.S_IMODE((assignment.folder / "grading").stat().st_mode) == 0o700
    assert str(assignment.seed) not in (assignment.folder / "student" /
                                        "01_one_hot.ipynb").read_text("utf-8")
    assert read_assignment(assignment.folder) == assignment


def test_git_add_takes_what_students_get_and_neither_seed_nor_solutions_nor_names(assignment):
    for path in ("grades.csv", "submissions/anna.ipynb",
                 "otter/01_one_hot/autograder/01_one_hot.ipynb"):
        (assignment.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (assignment.folder / path).write_text("anna")
    above = assignment.folder.parent
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=above, check=True)
    listed = (subprocess.run(["git", "ls-files"], cwd=above, capture_output=True, text=True,
                             check=True).stdout)
    assert listed.split() == ["hw1/student/01_one_hot.ipynb"]


def test_two_assignments_have_other_seeds_and_the_same_notebook(tmp_path):
    one, two = (assign(["start_here"], tmp_path / name) for name in "ab")
    assert one.seed != two.seed and one.id != two.id
    assert code_of(student_notebook(Course().card("start_here"))) == code_of(
        student_notebook(Course().card("start_here")))


def test_several_lessons_come_in_the_order_of_the_course(tmp_path):
    made = assign(["02_bag_of_words", "one_hot", "one_hot"], tmp_path / "hw")
    assert list(made.lessons) == ["one_hot", "bag_of_words"]
    assert made.exercises[0] == ("one_hot", "overlap_cosine")
    assert read_assignment(made.folder).exercises == made.exercises


def test_nothing_is_overwritten_and_nothing_is_half_made(tmp_path):
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / "mine.txt").write_text("keep")
    with pytest.raises(FileExistsError, match="holds something already; name a new folder"):
        assign(["one_hot"], tmp_path / "hw")
    with pytest.raises(ValueError, match="one_hat.*Did you mean 'one_hot'"):
        assign(["one_hat"], tmp_path / "new")
    with pytest.raises(ValueError, match="0 lessons"):
        assign([], tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hw"]


def test_what_is_no_assignment_is_named(tmp_path, assignment):
    with pytest.raises(FileNotFoundError, match=r"assignment\.json"):
        read_assignment(tmp_path)
    file = assignment.folder / "grading" / "assignment.json"
    good = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(good | {"format": 99}))
    with pytest.raises(ValueError, match="format 99, this library reads 1"):
        read_assignment(assignment.folder)
    file.write_text("[]")
    with pytest.raises(DamagedFile, match="is no assignment"):
        read_assignment(assignment.folder)
    (lesson,) = good["lessons"]
    for change in ({"seed": "a"}, {"seed": -5}, {"lessons": []}, {"lessons": 5}, {"lessons": [{}]},
                   {"lessons": [lesson | {"exercises": 5}]}, {
                       "lessons": [lesson | {"exercises": []}]
                   }, {"lessons": [lesson | {"open": "x"}]}, {"lessons": [lesson | {"stem": 5}]}):
        file.write_text(json.dumps(good | change))
        with pytest.raises(DamagedFile, match=r"assignment\.json was changed .* backup"):
            read_assignment(assignment.folder)
    for change in ({"id": "gone"}, {"exercises": [["gone", "x"]]}):
        file.write_text(json.dumps(good | {"lessons": [lesson | change]}))
        with pytest.raises(ValueError,
                           match=r"has the exercise .*gone.*, which the course here has not"):
            read_assignment(assignment.folder)


def test_a_folder_may_be_a_link_or_empty_but_not_the_one_you_are_in(tmp_path, monkeypatch):
    for name in ("empty", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("empty")
    assert assign(["one_hot"], tmp_path / "link").folder == tmp_path / "link"
    assert (tmp_path / "empty" / "student").is_dir()
    (tmp_path / "nowhere").symlink_to("later")
    assert (assign(["one_hot"], tmp_path / "nowhere").folder / "student").is_dir()
    assert (tmp_path / "later").is_dir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(FileExistsError, match="out='.' is the folder you are in; name a new one"):
        assign(["one_hot"], ".")
    assert list((tmp_path / "here").iterdir()) == []


def test_checks_and_hints_in_the_students_notebook(capsys, monkeypatch):
    from lessons_lib import classroom

    shown = []
    monkeypatch.setattr("IPython.display.display",
                        lambda data, raw: shown.append(data["text/plain"]))
    sheet = classroom.sheet("one_hot")
    sheet.check("overlap_cosine", lambda a, b: 0.0)
    for _ in range(3):
        sheet.hint("overlap_cosine")
    assert shown[0].startswith("overlap_cosine: for f(")
    assert shown[1].startswith("overlap_cosine, hint 1 of 2") and shown[2] == shown[3]
    assert not hasattr(sheet, "solution")
    with pytest.raises(ValueError, match="Did you mean 'overlap_cosine'"):
        sheet.check("overlap_cosin", None)
    assert classroom.judged("one_hot", "words_needed",
                            for_lesson("one_hot")["words_needed"].solution, seed=3) == "correct"
    assert classroom.judged("one_hot", "words_needed", len, seed=3) != "correct"


def test_solved_cells_stand_alone():
    for lesson in LESSONS:
        for code in code_of(solved_notebook(Course().card(lesson)))[1:]:
            assert "_solve_" not in code
            compile(code, lesson, "exec")
