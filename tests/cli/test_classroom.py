"""``lessons assign``, ``grade`` and ``guide`` from the command line."""

from __future__ import annotations

import os
import shutil

import pytest

from lessons_lib.classroom import missing_protections


@pytest.mark.skipif(bool(missing_protections()), reason="this system cannot confine a submission")
def test_from_assignment_to_grades(lessons, tmp_path):
    folder = tmp_path / "hw1"
    code, out, _ = lessons("assign", "one_hot", "--out", str(folder), "--no-otter")
    assert code == 0 and "01_one_hot" in out and f"lessons grade {folder}" in out.replace("\n", "")
    shutil.copy(folder / "grading" / "01_one_hot_solved.ipynb",
                folder / "submissions" / "anna.ipynb")
    code, out, err = lessons("grade", str(folder), "--jobs", "1")
    assert code == 0 and "anna" in out and "grades.csv" in out and "1/1 anna: one_hot" in err
    assert "1 notebook, 1 at a time: at most 6 min, should all run into their 300 s" in err
    lines = (folder / "grades.csv").read_text("utf-8-sig").splitlines()
    assert lines[1] == "anna,1,1,1,1,1,1,6,6,100"


@pytest.mark.skipif(bool(missing_protections()), reason="this system cannot confine a submission")
def test_the_screen_names_files_and_the_points_of_a_person_count_the_next_time(
        lessons, monkeypatch, tmp_path):
    folder = tmp_path / "hw1"
    lessons("assign", "one_hot", "--out", str(folder), "--no-otter")
    (folder / "submissions" / "anna").mkdir()
    solved = (folder / "grading" / "01_one_hot_solved.ipynb").read_text("utf-8")
    (folder / "submissions" / "anna.ipynb").write_text(
        solved.replace("*Your answer: replace this line.*", "Names"), "utf-8")
    for name, content in (("mine.ipynb", (folder / "student" / "01_one_hot.ipynb").read_text(
                               "utf-8")), ("all.zip", "PK"), ("bad.ipynb", "{")):
        (folder / "submissions" / "anna" / name).write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    _, out, _ = lessons("grade", "hw1")
    for said in ("2 files could not be used:\n", "  anna/bad.ipynb: cannot be read",
                 "  anna/all.zip: is no notebook (.ipynb); unpack it\n"):
        assert said in out
    assert "anna, one_hot: handed in twice: graded anna.ipynb, left anna/mine.ipynb" in out
    assert "1 answer waits for your points" in out
    details = folder / "details.csv"
    details.write_text(details.read_text("utf-8-sig").replace("question 1,,", "question 1,0.5,"),
                       "utf-8")
    code, out, _ = lessons("grade", str(folder))
    assert code == 0 and (folder / "grades.csv").read_text("utf-8-sig").splitlines()[
        1] == "anna,1,1,1,1,1,1,0.5,6.5,7,92.9" and "waits for" not in out
    assert "6.5" in out and "open question 1,0.5,1,read by a person,Names" in details.read_text(
        "utf-8-sig")


@pytest.mark.skipif(bool(missing_protections()), reason="this system cannot confine a submission")
@pytest.mark.parametrize("error, said", [(KeyboardInterrupt(), "stopped; who was graded"),
                                         (OSError("no memory"), "stopped by no memory; who was")])
def test_what_was_graded_before_it_was_stopped_is_kept_beside_the_former_tables(
        lessons, monkeypatch, tmp_path, error, said):
    from lessons_lib.classroom import grading

    folder, grade_notebook = tmp_path / "hw1", grading.grade_notebook
    lessons("assign", "one_hot", "--out", str(folder), "--no-otter")
    (folder / "grades.csv").write_text("former")
    for name in (b"anna", b"ben\xff\x1b[31m"):
        shutil.copy(folder / "grading" / "01_one_hot_solved.ipynb",
                    folder / "submissions" / os.fsdecode(name + b".ipynb"))

    def stopped(assignment, student, *rest, **options):
        if student != "anna":
            raise error
        return grade_notebook(assignment, student, *rest, **options)

    monkeypatch.setattr(grading, "grade_notebook", stopped)
    code, _, err = lessons("grade", str(folder), "--jobs", "1")
    assert code == 130 and said in err and (folder / "grades.csv").read_text() == "former"
    assert (folder / "stopped" / "grades.csv").read_text("utf-8-sig").splitlines()[1:] == [
        "anna,1,1,1,1,1,1,6,6,100"]
    monkeypatch.setattr(grading, "grade_notebook", grade_notebook)
    code, out, err = lessons("grade", str(folder))
    assert code == 0 and "ben\\udcff" in out and "\x1b" not in err and len(
        (folder / "grades.csv").read_text("utf-8-sig").splitlines()) == 3


def test_without_otter_the_rest_is_made_and_the_remedy_is_said(lessons, monkeypatch, tmp_path):
    monkeypatch.setattr("lessons_lib.classroom.otter.importlib.util.find_spec", lambda name: None)
    code, out, _ = lessons("assign", "start_here", "--out", str(tmp_path / "hw"))
    assert code == 0 and "no otter-grader version: otter-grader is not installed" in out and (
        tmp_path / "hw" / "student").is_dir()


def test_an_otter_that_fails_leaves_the_assignment_and_one_line(lessons, monkeypatch, tmp_path):
    def fails(made):
        raise RuntimeError("otter assign failed for 00_start_here: no kernel")

    monkeypatch.setattr("lessons_lib.classroom.otter_missing", lambda: None)
    monkeypatch.setattr("lessons_lib.classroom.write_otter", fails)
    code, _, err = lessons("assign", "start_here", "--out", str(tmp_path / "hw"))
    assert code == 2 and "hw is whole but for its otter-grader version: otter assign failed" in err
    assert (tmp_path / "hw" / "student").is_dir()


@pytest.mark.parametrize("arguments, text",
                         [(("assign", "one_hat", "--out", "x"), "Did you mean 'one_hot'"),
                          (("grade", "nowhere"), "assignment.json"),
                          (("guide", "one_hat"), "Did you mean 'one_hot'")])
def test_a_mistake_is_one_line(lessons, monkeypatch, tmp_path, arguments, text):
    monkeypatch.chdir(tmp_path)
    code, _out, err = lessons(*arguments)
    assert code == 2 and text in err and list(tmp_path.iterdir()) == []


def test_a_guide_is_printed_with_title_question_and_minutes(lessons):
    code, out, _ = lessons("guide", "01_one_hot")
    assert code == 0 and out.startswith("# Teaching 01 · One-hot vectors\n\n**How far do we get "
                                        "if all we know is whether two words are the same?** A")
