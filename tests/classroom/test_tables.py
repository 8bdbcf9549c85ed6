"""Grades as CSV: numbers for platforms, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import os
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.classroom import Graded, write_tables
from lessons_lib.classroom.tables import (cell_text, given_points, printable, totals,
                                           with_points)


@pytest.fixture
def rows():
    names = ("overlap_cosine", "words_needed", "equidistant")
    right = [Graded("Müller, Jörg", "one_hot", name, 1.0, 1.0, "correct") for name in names]
    evil = ([Graded('=cmd|"/c calc"!A0', "one_hot", name, 0.0, 1.0, "@SUM(1+1)\r\n=1")
             for name in names[:2]])
    return [*right, *evil, Graded("Müller, Jörg", "one_hot", "open question 1", None, 1.0,
                                  "to be read by a person", "+49 30 names\nand places")]


def test_one_row_for_each_student_and_one_for_each_exercise(assignment, rows):
    grades, details = write_tables(assignment, rows)
    with open(grades, encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    assert table[0][:4] == ["student", "01_one_hot.overlap_cosine", "01_one_hot.words_needed",
                            "01_one_hot.equidistant"]
    assert table[0][7:] == ["total", "possible", "percent"]
    assert table[1] == ["Müller, Jörg", *"111000", "3", "6", "50"]
    assert table[2][1:] == [*"0000000", "6", "0"]
    frame = pd.read_csv(details)
    assert list(frame.columns) == ["student", "lesson", "exercise", "points", "possible", "remark",
                                   "answer"] and len(frame) == 6
    assert frame.points.tolist()[:5] == [1, 1, 1, 0, 0] and pd.isna(frame.points[5])


def test_what_looks_like_a_formula_stays_text(assignment, rows):
    for path in write_tables(assignment, rows):
        with open(path, encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")] == []
    assert cell_text("=1+1") == "'=1+1" and cell_text(" \t=1") == "' \t=1"
    assert cell_text("＝1") == "'＝1" and cell_text("a=1") == "a=1"
    assert cell_text(-0.5) == "-0.5" and cell_text(1.0) == "1" and cell_text(None) == ""
    assert cell_text("\x00\x1b=1").startswith("'")


def table(path) -> list[list[str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("separator", [",", ";"])
def test_points_that_a_person_wrote_are_kept_and_counted(assignment, rows, separator):
    rows += [Graded("ben", "one_hot", "overlap_cosine", 1.0, 1.0, "correct"),
             Graded("ben", "one_hot", "open question 1", None, 1.0, "", "Names")]
    _, details = write_tables(assignment, rows)
    assert with_points(rows, given_points(assignment)) == rows
    lines = table(details)
    lines[6][3:5] = ["1,5", "2"]
    lines[1][5] = "one, two, three" * 99         # the head says what separates, not the most
    with open(details, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(lines)
    for _ in range(2):                           # and again
        again = with_points(rows, given_points(assignment))
        grades, _ = write_tables(assignment, again)
        assert [row.remark for row in again if row.points == 1.5] == ["read by a person"]
        head, *found = table(grades)
        assert head[7:] == ["01_one_hot.open question 1", "total", "possible", "percent"]
        assert [line[7:] for line in found] == [["1.5", "4.5", "8", "56.2"], ["0", "0", "8", "0"],
                                                ["0", "1", "8", "12.5"]]
    changed = [replace(row, answer="other") for row in rows]
    assert {row.remark for row in with_points(changed, given_points(assignment))
            if row.points == 1.5} == {"read by a person; the answer changed since"}
    gone = with_points(rows[3:5], given_points(assignment))[-1]
    assert (gone.student, gone.points,
            gone.remark) == ("Müller, Jörg", 1.5, "read by a person; nothing handed in for it now")


@pytest.mark.parametrize(
    "points, said", [("good", r"details\.csv, line 2: points is 'good'; expected a number >= 0"),
                     ("-1", "points is '-1'"), ("nan", "points is 'nan'"),
                     ("3", "line 2: points is 3, possible 1; expected points <= possible")])
def test_points_that_are_none_are_named_with_their_line(assignment, points, said):
    _, details = write_tables(assignment,
                              [Graded("ben", "one_hot", "open question 1", None, 1.0, "", "Names")])
    details.write_text(
        details.read_text("utf-8-sig").replace("question 1,,", f"question 1,{points},"), "utf-8")
    with pytest.raises(ValueError, match=said):
        given_points(assignment)
    for content, text in ((b"a,b\n", "has not the columns student, lesson"),
                          (b"\xff", "is not UTF-8; save it as CSV UTF-8")):
        details.write_bytes(content)
        with pytest.raises(ValueError, match=text):
            given_points(assignment)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_begins_as_a_formula_whatever_separates_cells(assignment, separator):
    evil = "fine; =cmd|'/c calc'!A0\n=1+1\n\t@SUM(A1)\";\"=2"
    rows = [Graded(evil, "one_hot", "overlap_cosine", 0.0, 1.0, evil, evil)]
    for path in write_tables(assignment, rows):
        for line in path.read_text("utf-8-sig").splitlines():
            cells = line.split(separator) if separator != "," else next(csv.reader([line]))
            assert [cell for cell in cells if cell.strip(' "')[:1] in tuple("=+@")] == []
    assert cell_text("- names\n- places; about a-b") == "'- names\n'- places; about a-b"


def test_a_name_that_is_no_utf8_or_steers_a_terminal_is_told_apart_and_printed():
    names = ([os.fsdecode(name) for name in (b"\xff", b"\xfe", b"\x1b[31mred\x9b2J")] +
             ["\u202efdp.exe"])
    assert [printable(name) for name in names] == ["\\udcff", "\\udcfe", " [31mred\\udc9b2J",
                                                   " fdp.exe"]
    assert cell_text(names[0]) == "\\udcff"


@given(st.text(max_size=30))
def test_no_text_begins_as_a_formula_or_holds_control_characters(text):
    cell = cell_text(text)
    assert cell.strip()[:1] not in ("=", "+", "-", "@", "|", "%") or not cell
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in cell)


def test_long_texts_are_cut():
    assert len(cell_text("a" * 10**6)) <= 5001
    assert cell_text("a" * 5000) == "a" * 5000 == cell_text("a" * 5001)


@pytest.mark.parametrize(("text", "cell"), [
    ("\x9b=1", "' =1"), ("\rno formula", "' no formula"), ("\tno formula", "'\tno formula"),
    ("\nno formula", "'\nno formula"), ("no\tformula", "no\tformula"), (";=1", ";'=1")])
def test_what_is_a_formula_before_or_after_cleaning_stays_text(text, cell):
    assert cell_text(text) == cell
    assert cell_text(" " * 5000 + "=1") == "'" + " " * 5000         # it begins behind the cut


def test_a_person_may_give_nothing_or_all_and_open_questions_stand_in_their_order(assignment):
    asked = [Graded("ben", "one_hot", f"open question {n}", None, 1.0, "", "Names")
             for n in (10, 2, 1)]
    _, details = write_tables(assignment, asked)
    text = details.read_text("utf-8-sig")
    for number, written in ((10, "0"), (2, "1"), (1, " 0.5 ")):
        text = text.replace(f"question {number},,", f"question {number},{written},")
    details.write_text(text, "utf-8")
    again = with_points(asked, given_points(assignment))
    assert [row.points for row in again] == [0.0, 1.0, 0.5]
    head, line = table(write_tables(assignment, again)[0])
    assert head[7:10] == [f"01_one_hot.open question {n}" for n in (1, 2, 10)]
    assert line[7:] == ["0.5", "1", "0", "1.5", "9", "16.7"]
    details.write_text(text.replace("question 10,0,", "question 10,inf,"), "utf-8")
    with pytest.raises(ValueError, match="points is 'inf'; expected a number >= 0"):
        given_points(assignment)


def test_an_open_question_is_worth_the_most_that_was_possible(assignment):
    rows = [Graded(name, "one_hot", "open question 1", points, possible, "")
            for name, points, possible in (("a", 1.0, 3.0), ("b", 1.0, 2.0), ("c", None, 9.0))]
    columns, lines = totals(assignment, rows)
    assert columns[-1] == ("one_hot", "open question 1") and len(columns) == 7
    assert lines == [[name, *[0.0] * 6, points, points, 9.0]
                     for name, points in (("a", 1.0), ("b", 1.0), ("c", 0.0))]
