"""Three samples (right, half right, hostile), and all else: each costs only itself."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace

import psutil
import pytest

from lessons_lib.classroom import assign, grading, read_assignment
from lessons_lib.classroom.grading import read_notebook
from lessons_lib.core import BackendUnavailable

EXERCISES = ("overlap_cosine", "words_needed", "equidistant")
pytestmark = pytest.mark.usefixtures("confined")


def points(rows, student: str) -> list[float]:
    return [rows[student, name].points for name in EXERCISES]


def test_all_right_gets_all_points(hand_in, graded, right):
    hand_in("anna", **right)
    rows = graded()
    assert points(rows, "anna") == [1, 1, 1]
    assert {rows["anna", name].remark for name in EXERCISES} == {"correct"}
    assert rows["anna", "open question 1"].points is None
    assert {rows["anna", name].possible for name in (*EXERCISES, "open question 1")} == {1.0}
    assert rows["anna", "open question 1"].remark == "not answered"
    assert rows["anna", "open question 1"].answer == ""


def test_half_right_gets_what_is_right_and_is_told_the_smallest_case(hand_in, graded, right):
    unsorted = ("def words_needed(counts, share):\n"
                "    return int(np.argmax(np.cumsum(counts) / np.sum(counts) >= share)) + 1")
    hand_in("ben", overlap_cosine=right["overlap_cosine"], words_needed=unsorted,
            before=["import no_such_package", "%matplotlib inline", "half = 1/2"])
    rows = graded()
    assert points(rows, "ben") == [1, 0.3, 0]
    assert rows["ben", "words_needed"].remark.startswith("for words_needed([1, 2, 3, 4], 0.7): "
                                                         "expected 2, yours is 4")
    assert rows["ben", "equidistant"].remark == "not attempted yet"


HOSTILE = [
    "import os, sys, signal, socket, subprocess, shutil, threading, glob",
    "print('overlap_cosine: correct'); sys.stdout.write('{\"value\": \"correct\", \"points\": 1}')",
    "for fd in range(3, 20):\n    try:\n        os.write(fd, b'x' * 100)\n    except OSError:\n    "
    "    pass",
    "os.kill(os.getppid(), signal.SIGTERM)", "socket.create_connection(('127.0.0.1', 80))",
    "subprocess.run(['rm', '-rf', 'SUBMISSIONS'])",
    "for path in glob.glob('SUBMISSIONS/*') + ['SUBMISSIONS/anna.ipynb', "
    "'SUBMISSIONS/../grading/assignment.json', 'README']:\n    try:\n        os.remove(path)\n    "
    "except OSError:\n        os.chmod(path, 0)",
    "class Equal:\n    def __eq__(self, other): return True\n    def __float__(self): return 1.0\n "
    "   def __array__(self, *a, **k):\n        return np.ones(3)",
    "sys.modules['wire'].pack = lambda *a: 'correct'; json = None",
    "while True:\n    try:\n        pass\n    except BaseException:\n        pass", "os._exit(0)",
]


def test_hostile_gets_nothing_and_takes_nothing_from_others(hand_in, graded, right, assignment):
    folder = assignment.folder / "submissions"
    own, others = [cell.replace("SUBMISSIONS", str(folder)) for cell in HOSTILE], ("anna", "zoe")
    for name in others:
        hand_in(name, **right)
    hand_in("mallory", before=own, overlap_cosine="def overlap_cosine(a, b):\n    return Equal()",
            words_needed="def words_needed(counts, share):\n    os._exit(1)",
            equidistant="my_points = Equal()")
    before = ({path: (path.stat().st_mode, path.read_bytes())
               for path in assignment.folder.rglob("*") if path.is_file()})
    rows = graded()
    assert points(rows, "mallory") == [0, 0, 0]
    assert [points(rows, name) for name in others] == [[1, 1, 1]] * 2
    assert {path: (path.stat().st_mode, path.read_bytes())
            for path in assignment.folder.rglob("*") if path.is_file()} == before
    assert [p for p in psutil.Process().children(recursive=True)
            if "sandbox" in " ".join(p.cmdline())] == []


@pytest.mark.parametrize("evil, remark", [
    ("while True: pass", "took"), ("import time; time.sleep(60)", "took"),
    ("os._exit(0)", "ended its own process"),
    ("import ctypes; ctypes.string_at(0)", "ended its own process"), ("sys.exit(0)", "SystemExit"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("return bytearray(2_000_000_000)", "MemoryError"), ("def f(): f()\n    f()", "RecursionError"),
    ("open('/etc/passwd').read()", "PermissionError"),
    ("__import__('socket').socket()", "PermissionError"), ("os.fork()", "PermissionError"),
    ("os.kill(os.getppid(), 0)", "PermissionError"), ("return 'a' * 40_000_000", "WireError"),
    ("return [[]] * 100_000", "expected"), ("x = []; x.append(x); return x", "nested"),
    ("return 10 ** 5000", "bits"), ("return float('nan')", "expected"),
    ("return Exception", "expected"), ("return object()", "expected"),
])
def test_an_answer_that_misbehaves_costs_its_own_exercise_only(hand_in, graded, right, evil,
                                                               remark):
    hand_in("eve", **right | {"overlap_cosine": "import os, sys\ndef overlap_cosine(a, b):\n    "
                                                f"{evil}"})
    rows = graded()
    assert points(rows, "eve") == [0, 1, 1]
    assert remark in rows["eve", "overlap_cosine"].remark


@pytest.mark.parametrize("evil", ["while True: pass", "import os; os._exit(0)",
                                  "import ctypes; ctypes.string_at(0)", "raise SystemExit", "1 +",
                                  "import builtins; builtins.len = lambda x: 3",
                                  "x = bytearray(5_000_000_000)"])
def test_a_cell_that_crashes_or_loops_is_left_out_and_the_answers_count(
        hand_in, graded, right, evil):
    hand_in("eve", before=[evil], **right)
    assert points(graded(), "eve") == [1, 1, 1]


@pytest.mark.slow
def test_a_submission_that_ignores_its_limits_ends_after_its_total(hand_in, graded):
    stubborn = "while True:\n    try:\n        while True: x = 1\n    except BaseException: pass"
    hand_in("eve", before=[stubborn] * 30)
    start = time.monotonic()
    rows = graded(limits=grading.Limits(cell=0.5, call=0.5, total=7.0))
    assert points(rows, "eve") == [0, 0, 0] and time.monotonic() - start < 30
    assert "took more than 7 s in all" in rows["eve", "overlap_cosine"].remark


@pytest.mark.slow
def test_a_class_that_runs_into_its_limits_takes_no_longer_than_was_said_before(hand_in, graded):
    for student in "abcde":
        hand_in(student, before=["while True:\n    try:\n        while True: x = 1\n"
                                 "    except BaseException: pass"] * 9)
    limits, said, start = grading.Limits(cell=0.5, call=0.5, total=3.0), [], time.monotonic()
    rows = graded(limits=limits, on_start=lambda *bound: said.append(bound))
    assert said == [(5, 2, 39.0)] and 9 <= time.monotonic() - start <= said[0][2]
    assert sum(points(rows, "e")) == 0


def test_the_longest_time_of_a_grading_follows_from_limits_hand_ins_and_jobs():
    assert grading.longest_grading(30, jobs=2) == 15 * 310
    assert grading.longest_grading(31, jobs=2, limits=grading.Limits(total=20)) == 16 * 30
    assert grading.longest_grading(0, jobs=8) == 0
    with pytest.raises(ValueError, match="jobs"):
        grading.longest_grading(1, jobs=0)


def test_a_cell_that_stops_is_told_with_its_error_and_its_line_and_is_not_called_unattempted(
        hand_in, graded, right):
    hand_in("anna", overlap_cosine="%matplotlib inline\ndef overlap_cosine(a, b)\n    return 1",
            words_needed="x = 1\n" * 2 + "share = counts + 1", equidistant="my_points = [1")
    hand_in(
        "ben", **right | {
            "overlap_cosine": "from lessons_lib.counts import TfIdf\n" + right["overlap_cosine"],
            "words_needed": "from lessons_lib import TfIdf\n" + right["words_needed"],
            "equidistant": "while True: pass"
        })
    hand_in(
        "chen", before=[
            "while True:\n    try:\n        while True: x = 1\n    except BaseException: pass"
        ], words_needed="def words_needed(counts, share):\n    while True: pass",
        overlap_cosine="overlap_cosine = lambda a, b: 1 / 0")
    rows, out_of_reach = graded(), "the cell stopped: lessons_lib is out of reach while grading"
    assert [rows["anna", name].remark for name in EXERCISES] == [
        "the cell stopped: SyntaxError, line 2: expected ':'", "the cell stopped: NameError, line "
                                                               "3: name 'counts' is not defined",
        "the cell stopped: SyntaxError, line 1: '[' was never closed"]
    assert [rows["ben", name].remark.split(";")[0] for name in EXERCISES
            ] == [out_of_reach] * 2 + ["the cell stopped: took longer than 1.5 s"]
    assert rows["chen", "words_needed"].remark.startswith("your code stopped: took longer than 1.5 "
                                                          "s (called as ")
    assert rows["chen", "overlap_cosine"].remark.startswith("your code stopped: ZeroDivisionError: "
                                                            "division by zero (called as ")
    assert rows["chen", "equidistant"].remark == "not attempted yet"


def test_an_answer_learned_by_heart_fails_on_inputs_it_has_not_seen(hand_in, graded, right):
    table = ("def words_needed(counts, share):\n    known = {(4, 3, 2, 1, .5): 2, (4, 3, 2, 1, "
             ".7): 2, (1, 2, 3, 4, .7): 2,\n             (10, 1, 1, 1, 1, .5): 1, (5, 5, 5, 5, "
             "1.): 4}\n    return known.get((*counts, share), 15)")
    hand_in("parrot", words_needed=table, overlap_cosine="def overlap_cosine(a, b):\n    import "
                                                         "lessons_lib.exercises.one_hot as x\n"
            "    return x.EXERCISES['overlap_cosine'].solution(a, b)")
    rows = graded()
    assert points(rows, "parrot") == [0, 0, 0]
    assert "expected" in rows["parrot", "words_needed"].remark
    assert "lessons_lib is out of reach" in rows["parrot", "overlap_cosine"].remark


def test_the_solutions_and_the_seed_cannot_be_read(hand_in, graded, right, assignment):
    from lessons_lib.exercises import one_hot

    peek = "def overlap_cosine(a, b):\n    return open({!r}).read()"
    hand_in("eve", overlap_cosine=peek.format(one_hot.__file__),
            words_needed=peek.format(str(assignment.folder / "grading/assignment.json")).replace(
                "overlap_cosine", "words_needed"))
    rows = graded()
    assert "PermissionError" in rows["eve", "overlap_cosine"].remark
    assert "TypeError" in rows["eve", "words_needed"].remark or "PermissionError" in rows[
        "eve", "words_needed"].remark


FORGED = {
    "a shape without end": "{'t': 'array', 'dtype': 'f8', 'shape': [float('inf')], 'v': ''}",
    "a number that is none": "{'t': 'function', 'id': float('inf'), 'name': 'f', 'text': 'f'}",
    "keys with one hash": "{'t': 'set', 'v': [k * (2**61 - 1) for k in range(200_000)]}",
    "lists in millions": "[[]] * 3_000_000",
    "no text": "{'t': ['array']}",
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_message_costs_its_own_exercise_and_neither_the_class_nor_its_time(
        hand_in, graded, right, what):
    forge = (f"import sys\nwire = sys.modules['wire']\npack, forged = wire.pack, {FORGED[what]}\n"
             "wire.pack = lambda value, *a, **k: forged if value is my_points else pack(value, *a, "
             "**k)\nwire._check_values = lambda body: None")
    hand_in("eve", before=[forge], **right | {"equidistant": "my_points = object()"})
    hand_in("zoe", **right)
    start = time.monotonic()
    rows = graded()
    assert points(rows, "eve")[2] == 0 and points(rows, "zoe") == [1, 1, 1]
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("number", ["float('nan')", "float('inf')", "-float('inf')"])
def test_what_is_no_number_is_no_answer(hand_in, graded, right, number):
    hand_in("eve", **right | {"equidistant": f"my_points = [[{number}] * 3] * 4"})
    assert points(graded(), "eve") == [1, 1, 0]


@pytest.mark.parametrize("content", [
    b"", b"PK\x03\x04 zip", b"\x00" * 100, b"[" * 100_000, b"{}", b'{"cells": 5}',
    b'{"cells": [5]}', b'"text"',
    b'{"cells": [{"cell_type": "code", "source": 5, "metadata": ' b'7}]}',
    "<html>".encode("utf-16"), b"1e999",
])
def test_a_file_that_is_no_notebook_costs_only_itself(content, hand_in, graded, right, assignment):
    hand_in("anna", **right)
    (assignment.folder / "submissions" / "eve.ipynb").write_bytes(content)
    rows = graded()
    assert points(rows, "eve") == [0, 0, 0] and points(rows, "anna") == [1, 1, 1]


@pytest.mark.parametrize("metadata", [{"lessons_assignment": {"lesson": ["one_hot"]}},
                                      {"lessons_assignment": {"lesson": {}}}, [1], None, "text"])
def test_metadata_of_any_kind_costs_nobody_anything(metadata, hand_in, graded, right):
    path = hand_in("eve", **right)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"metadata": metadata}))
    assert points(graded(), "eve") == [1, 1, 1]


def test_a_notebook_of_format_3_and_a_number_without_end_are_named(tmp_path):
    for content, message in (('{"nbformat": 3, "worksheets": [{"cells": []}]}',
                              "format 3; open and save it"), ("1" * 5000, r"no JSON \(ValueError")):
        (tmp_path / "a.ipynb").write_text(content)
        with pytest.raises(ValueError, match=message):
            read_notebook(tmp_path / "a.ipynb")


def test_links_pipes_and_huge_files_are_not_opened(assignment, graded, hand_in, right, monkeypatch):
    folder = assignment.folder / "submissions"
    target = hand_in("anna", **right)
    (folder / "link.ipynb").symlink_to(target)
    os.mkfifo(folder / "pipe.ipynb")
    monkeypatch.setattr(grading, "MAX_NOTEBOOK_BYTES", target.stat().st_size)
    (folder / "huge.ipynb").write_bytes(target.read_bytes() + b" " * 10)
    rows = graded()
    assert [points(rows, name) for name in ("link", "pipe", "huge", "anna")
            ] == [[0, 0, 0]] * 3 + [[1, 1, 1]]
    assert "a link, a folder or a device" in rows["pipe", "equidistant"].remark
    assert "at most" in rows["huge", "equidistant"].remark


def test_folders_files_and_a_roster_name_the_students(assignment, hand_in, graded, right):
    folder = assignment.folder / "submissions"
    (folder / "Müller, Jörg_77").mkdir()
    hand_in("x", **right).rename(folder / "Müller, Jörg_77" / "01_one_hot (1).ipynb")
    hand_in("kim_01_one_hot", **right)
    (assignment.folder / "students.txt").write_text("kim\nlate one\n\n", "utf-8")
    rows = graded()
    assert points(rows, "Müller, Jörg_77") == points(rows, "kim") == [1, 1, 1]
    assert points(rows, "late one") == [0, 0, 0]
    assert rows["late one", "equidistant"].remark == "nothing handed in"


def test_a_roster_that_is_not_utf8_is_named_with_its_line(assignment):
    roster = assignment.folder / "students.txt"
    roster.write_bytes("\ufeffkim\r\n\r\nJörg\r\n".encode())
    assert [row.student for row in grading._jobs(assignment)[1]] == ["kim"] * 6 + ["Jörg"] * 6
    for content, where in (("kim\nJörg\n".encode("latin-1"), "line 2, byte 5: f6"),
                           ("kim\n".encode("utf-16"), "line 1, byte 0: ff")):
        roster.write_bytes(content)
        with pytest.raises(ValueError,
                           match=rf"students\.txt, {where} is not UTF-8 .*save the file as UTF-8"):
            next(grading.grade(assignment))


def test_no_submission_at_all_is_a_mistake_and_no_empty_table(assignment):
    with pytest.raises(ValueError, match=r"submissions holds 0 submissions; put NAME\.ipynb there"):
        next(grading.grade(assignment))


def chosen(assignment) -> tuple[list[str], list[str]]:
    """The files that are graded, and what is said about files."""
    jobs, rows = grading._jobs(assignment)
    return [path.name for *_, path in jobs], [row.remark for row in rows]


def test_a_single_file_is_graded_without_a_word_about_it(assignment, hand_in):
    hand_in("kim")
    assert chosen(assignment) == (["kim.ipynb"], [])


def test_of_several_files_for_one_lesson_the_newest_with_the_most_attempts_counts_and_it_is_said(
        assignment, hand_in, right):
    folder = assignment.folder / "submissions" / "kim"
    folder.mkdir()
    for age, name in enumerate(("b.ipynb", "a.ipynb", "a_v2.ipynb")):
        path = hand_in("kim", **({} if name == "a_v2.ipynb" else right)).rename(folder / name)
        os.utime(path, (10**9 + age, 10**9 + age))
    assert chosen(assignment) == (["a.ipynb"], ["handed in 3 times: graded kim/a.ipynb, left "
                                                "kim/a_v2.ipynb and kim/b.ipynb"])
    (folder / "a.ipynb").unlink()
    assert chosen(assignment) == (["b.ipynb"], ["handed in twice: graded kim/b.ipynb, left "
                                                "kim/a_v2.ipynb"])
    outside = hand_in("kim",**{name: code for name, code in right.items() if name != "equidistant"})
    # what was handed out can be made again
    (assignment.folder / "student" / "01_one_hot.ipynb").unlink()
    # one exercise less, though it is newer
    assert chosen(assignment)[0] == ["b.ipynb"] and outside.is_file()


def test_a_cell_answers_by_its_mark_or_by_the_name_that_it_makes_and_is_searched_in_no_time():
    for source, answers in (("x = 1\n  def f(a): pass",
                             True), ("f = 3", True), ("f: int = 3", True), ("f == 3", False),
                            ("f(1)", False), ("def ff(a): pass", False), ("g = f = 1", False)):
        assert grading._answers({"source": source}, "name", "f") is answers, source
    assert grading._answers({"source": "", "metadata": {"exercise": "name"}}, "name", "f")
    start = time.monotonic()
    for source in ("\n" * 10**6, "f\n" * 10**6, "f:" * 10**6, " " * 10**6):
        assert not grading._answers({"source": source}, "name", "f")
    assert time.monotonic() - start < 5


def test_files_that_cannot_be_used_are_named_with_the_reason(assignment, hand_in, graded, right):
    folder = assignment.folder / "submissions" / "kim"
    folder.mkdir()
    hand_in("kim", **right).rename(folder / "one.ipynb")
    for name, content in (("all.zip", "PK"), ("mine.py", "x = 1"), ("bad.ipynb", '{"cells": ['),
                          ("other.ipynb", '{"cells": [], "metadata": {"lessons_assignment": '
                                          '{"lesson": "pmi"}}}')):
        (folder / name).write_text(content)
    rows = graded()
    assert points(rows, "kim") == [1, 1, 1]
    assert {key[1]: row.remark for key, row in rows.items() if not row.lesson} == {
                "kim/all.zip": "is no notebook (.ipynb); unpack it",
                "kim/mine.py": "is no notebook (.ipynb)",
                "kim/bad.ipynb": "cannot be read: it is no JSON (JSONDecodeError)",
                "kim/other.ipynb": "is a notebook for no lesson of this assignment"
            }
    assert {row.possible for row in rows.values() if not row.lesson} == {0.0}


def test_rows_come_in_the_order_of_the_lessons(tmp_path, confined):
    made = assign(["one_hot", "bag_of_words"], tmp_path / "hw")
    (made.folder / "submissions" / "anna").mkdir()
    shutil.copy(made.folder / "grading" / "02_bag_of_words_solved.ipynb",
                made.folder / "submissions" / "anna")
    (made.folder / "submissions" / "anna" / "notes.txt").write_text("hello")
    lessons = [row.lesson for row in grading.grade(made)]
    assert list(dict.fromkeys(lessons)) == ["one_hot", "bag_of_words", ""]
    assert lessons == sorted(lessons, key=["one_hot", "bag_of_words", ""].index)


def test_a_renamed_answer_or_a_missing_one_is_not_attempted(hand_in, graded, right):
    hand_in("eve", **right | {"equidistant": "points = 3"}, after=["my_points = None"])
    assert graded()["eve", "equidistant"].remark == "not attempted yet"


def test_grading_again_gives_the_same(hand_in, graded, right, assignment):
    hand_in("anna", **right)
    hand_in("ben", words_needed="def words_needed(counts, share):\n    return len(counts)")
    first = graded()
    assert first == graded(jobs=1) and read_assignment(assignment.folder).seed == assignment.seed


def test_students_come_as_soon_as_they_are_graded_and_who_stops_ends_the_rest_at_once(
        hand_in, assignment, right):
    hand_in("anna", **right)
    for name in ("ben", "chen", "dora"):
        hand_in(name, before=["import time; time.sleep(15)"], **right)
    rows = grading.grade(assignment, limits=grading.Limits(), jobs=2)
    first = [next(rows) for _ in range(4)]
    start = time.monotonic()
    rows.close()
    assert {row.student for row in first} == {"anna"} and sum(row.points or 0 for row in first) == 3
    assert time.monotonic() - start < 3 and [p for p in psutil.Process().children(recursive=True)
                                             if "sandbox" in " ".join(p.cmdline())] == []


def test_another_seed_asks_other_inputs(hand_in, graded, assignment, right):
    asked = "def words_needed(counts, share):\n    raise ValueError(hash((*counts, share)))"
    path = hand_in("eve", words_needed=asked)
    one, two = (grading.grade_notebook(replace(assignment, seed=seed), "eve", "one_hot", path)
                for seed in (1, 2))
    assert one[1].remark == two[1].remark  # the examples come first, and they are the lesson's own
    knows = ("def words_needed(counts, share):\n    if len(counts) > 5 and len(counts) != 30: "
             "raise ValueError(sum(counts))\n    return SOLVED")
    body = right["words_needed"].split("\n", 1)[1].replace("    return ", "    return ")
    path = hand_in("eve", words_needed=knows.replace("    return SOLVED", body))
    one, two = (grading.grade_notebook(replace(assignment, seed=seed), "eve", "one_hot", path)
                for seed in (1, 2))
    assert "ValueError" in one[1].remark and one[1].remark != two[1].remark


def test_an_open_answer_is_kept_for_a_person(hand_in, graded, assignment):
    path = hand_in("anna")
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][-1]["source"] = ["Names suffer most, ", "and search for them."]
    path.write_text(json.dumps(notebook))
    assert graded()["anna", "open question 1"].answer == "Names suffer most, and search for them."
    notebook["cells"][-1]["source"] = "*Your answer: replace this line.*"
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "Names."})
    path.write_text(json.dumps(notebook))
    row = graded()["anna", "open question 1"]
    assert (row.answer, row.remark) == ("Names.", "to be read by a person")


def test_without_protection_nothing_runs_unless_the_teacher_says_so(hand_in, graded, right,
                                                                    monkeypatch):
    from lessons_lib.classroom import runner

    monkeypatch.setattr(runner, "protections", lambda: {"network": False, "processes": False,
                                                        "files": True, "memory": True})
    hand_in("anna", **right)
    with pytest.raises(BackendUnavailable, match=r"network; .*processes\. Grade on .*--weak"):
        graded()
    assert points(graded(weak=True), "anna") == [1, 1, 1]


def test_a_system_that_refuses_to_confine_in_the_middle_ends_the_run_and_takes_no_points(
        hand_in, graded, right, monkeypatch, tmp_path):
    def refuse(*args, **keywords):
        raise BackendUnavailable("this system refused to confine a submission")

    hand_in("anna", **right)
    monkeypatch.setattr(grading.Submission, "__enter__", refuse)
    with pytest.raises(BackendUnavailable, match="refused to confine"):
        graded()


def test_a_file_of_the_largest_size_is_read_and_a_byte_more_is_not(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": []}'.ljust(3_000_000))
    monkeypatch.setattr(grading, "MAX_NOTEBOOK_BYTES", 3_000_000)
    assert read_notebook(path) == {"cells": []}
    monkeypatch.setattr(grading, "MAX_NOTEBOOK_BYTES", 2_999_999)
    with pytest.raises(ValueError, match="has 3 MB; at most 3. Clear its outputs"):
        read_notebook(path)


@pytest.mark.parametrize("content", [
    {"cells": [{}] * 2001}, {"cells": [{}, 5]}, {"cells": None}, {"worksheets": 5}, [], {}])
def test_what_has_no_list_of_at_most_2000_cells_is_no_notebook(tmp_path, content):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{}] * 2000}))
    assert len(read_notebook(path)["cells"]) == 2000
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="is no notebook: it has no list of at most 2000 cells"):
        read_notebook(path)


def test_a_file_belongs_to_the_lesson_of_its_mark_then_of_its_name_then_to_the_only_one(assignment):
    one, two = assignment.lessons["one_hot"], {"stem": "01_one_hot_again", "exercises": {}}
    several = replace(assignment, lessons={"one_hot": one, "one_hot_again": two})

    def lesson(made, name, mark=None):
        notebook = {"metadata": {"lessons_assignment": {"lesson": mark}}} if mark else {}
        return grading._lesson_of(made, assignment.folder / name, notebook or None)

    assert lesson(several, "x.ipynb", "one_hot") == "one_hot"
    assert lesson(several, "ann_one_hot.ipynb") == "one_hot"
    assert lesson(several, "01_one_hot_again.ipynb") == "one_hot_again"        # the longest name
    assert lesson(several, "one_hot.ipynb", "one_hot_again") == "one_hot_again"
    assert lesson(several, "one_hot.ipynb", "pmi") is None is lesson(several, "x.ipynb")
    assert lesson(assignment, "x.ipynb") == "one_hot"


def test_an_open_answer_ends_at_the_next_question_and_at_5000_characters():
    def cells(*given):
        return {"cells": [{"cell_type": kind, "metadata": {"open_question": mark} if mark else {},
                           "source": text} for kind, mark, text in given]}

    found = grading._open_answers(cells(
        ("markdown", None, "before"), ("markdown", 1, "*Your answer: replace this line.*"),
        ("markdown", None, "mine"), ("code", None, "x = 1"), ("markdown", None, "after"),
        ("markdown", 2, "a" * 6000), ("markdown", None, "**Open question.** Why?"),
        ("markdown", True, "no number")))
    assert found == {1: "mine", 2: "a" * 5000}


def test_who_waits_is_told_what_is_done_and_how_long_it_takes_at_most(hand_in, assignment, right):
    for name in ("ben", "Anna"):
        hand_in(name, **right)
    (assignment.folder / "students.txt").write_text("zoe\n")
    begun, done = [], []
    rows = list(grading.grade(assignment, jobs=5, on_start=lambda *said: begun.append(said),
                              on_done=lambda *said: done.append(said)))
    assert begun == [(2, 2, grading.longest_grading(2, jobs=5))]
    assert done == [("Anna", "one_hot", 1, 2), ("ben", "one_hot", 2, 2)]
    assert list(dict.fromkeys(row.student for row in rows)) == ["Anna", "ben", "zoe"]
    for name in ("ben", "Anna"):
        (assignment.folder / "submissions" / f"{name}.ipynb").unlink()
    rows = list(grading.grade(assignment, jobs=5, on_start=lambda *said: begun.append(said)))
    assert begun[1] == (0, 1, 0.0) and {row.remark for row in rows} == {"nothing handed in"}
    assert {(row.points, row.possible) for row in rows} == {(0.0, 1.0)}


def test_a_notebook_without_a_final_line_or_with_source_as_text_is_read(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": "x = 1"}]}')
    assert read_notebook(path)["cells"][0]["source"] == "x = 1"
