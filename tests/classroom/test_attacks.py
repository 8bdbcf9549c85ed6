"""Attacks on the grader, tried from the outside: whoever breaks it gets nothing, and takes nothing.

Each is a cell that a student hands in together with answers that know nothing. The threat model in
the docstring of `lessons_lib.classroom` says what is held back by what.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lessons_lib.classroom import grading, runner
from lessons_lib.classroom.runner import Ended, Limits, Submission

from .conftest import LIMITS

EXERCISES = ("overlap_cosine", "words_needed", "equidistant")
pytestmark = pytest.mark.usefixtures("confined")

ATTACKS = {
    "replies written before they are asked for": """
import io, json, gc, struct, threading, time
def flood():
    pipes = [o for o in gc.get_objects() if isinstance(o, io.BufferedWriter)]
    body = json.dumps({"value": 1.0}).encode()
    while True:
        for pipe in pipes:
            try:
                pipe.write(struct.pack("<I", len(body)) + body); pipe.flush()
            except Exception: pass
        time.sleep(0.01)
threading.Thread(target=flood, daemon=True).start()
def overlap_cosine(a, b): return 1.0
""",
    "a reply that claims the verdict": """
import sys
main = sys.modules["__main__"]
main._Process.call = lambda self, request: {"value": "correct", "remark": "correct", "points": 1.0}
main._Process.value = lambda self, request: {"value": {"t": "function", "id": 0, "name": "f",
                                                       "text": "correct"}, "held": {}, "missing": 0}
def overlap_cosine(a, b): return 0.0
""",
    "a check that always agrees": """
import numpy as np, builtins, math, operator
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.testing.assert_allclose = lambda *a, **k: None
operator.eq = lambda a, b: True
math.isclose = lambda *a, **k: True
builtins.isinstance, builtins.all = (lambda *a: True), (lambda *a: True)
def overlap_cosine(a, b): return 0.123
""",
    "the solution in the frames of the caller": """
import sys
def overlap_cosine(a, b):
    frame = sys._getframe()
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            for name in ("spec", "solution", "judge", "expected", "cases"):
                found = getattr(value, name, None)
                if found is not None:
                    return found(a, b) if callable(found) else found
        frame = frame.f_back
    return 5.0
""",
    "the solution in a traceback": """
def overlap_cosine(a, b):
    try:
        overlap_cosine.net(a)
    except Exception as error:
        frame = error.__traceback__.tb_frame
        while frame.f_back is not None:
            frame = frame.f_back
        return frame.f_locals.get("expected", frame.f_globals.get("_solve_overlap_cosine", 5.0))
""",
    "the solution among all objects": """
import gc, types
def overlap_cosine(a, b):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ in (
                "_solve_overlap_cosine", "judge") or type(thing).__name__ == "Exercise":
            return getattr(thing, "solution", thing)(a, b)
    return 5.0
""",
    "links to what is hidden": """
import os
for number, path in enumerate(["LIBRARY/exercises/one_hot.py", "ASSIGNMENT/grading", "/",
                               "/proc/self/fd", "SUBMISSIONS/anna.ipynb"]):
    try:
        os.symlink(path, f"link{number}")
        stolen = open(f"link{number}").read()
        exec(compile(stolen, "stolen", "exec"))
    except Exception: pass
def overlap_cosine(a, b): return globals().get("_solve_overlap_cosine", lambda a, b: 5.0)(a, b)
""",
    "help over a socket": """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for kind in (1, 2, 3):
    for family in (1, 2, 10, 16, 17):
        assert libc.syscall(41 if os.uname().machine == "x86_64" else 198, family, kind, 0) < 0
def overlap_cosine(a, b): return 5.0
""",
    "a thread that rewrites answers while they are asked for": """
import sys, threading
def meddle():
    space = sys.modules["__main__"].__dict__
    while True:
        globals()["overlap_cosine"] = lambda *a: float("nan")
        globals()["words_needed"] = lambda *a: True
threading.Thread(target=meddle, daemon=True).start()
""",
    "memory that no limit of data counts": """
import mmap
keep = []
while True:
    part = mmap.mmap(-1, 1 << 26)
    for at in range(0, 1 << 26, 4096): part[at] = 1
    keep.append(part)
""",
    "memory in pipes": """
import fcntl, os
keep = []
for _ in range(100):
    ends = os.pipe()
    keep.append(ends)
    fcntl.fcntl(ends[1], 1031, 1 << 28)
    os.set_blocking(ends[1], False)
    os.write(ends[1], bytes(1 << 28))
def overlap_cosine(a, b): return 5.0
""",
    "a value whose shape has seventy axes": """
import sys
wire, pack = sys.modules["wire"], sys.modules["wire"].pack
wire.pack = lambda value, *a, **k: ({"t": "array", "dtype": "f8", "shape": [1] * 70,
                                     "v": "AAAAAAAA8D8="} if value is my_points else pack(value))
my_points = object()
""",
    "an array of pointers": """
import sys
wire, pack = sys.modules["wire"], sys.modules["wire"].pack
wire.pack = lambda value, *a, **k: ({"t": "array", "dtype": "O", "shape": [1],
                                     "v": "AAAAAAAA8D8="} if value is my_points else pack(value))
my_points = object()
""",
    "a reply that never comes to its end": """
import io, gc, struct
for pipe in [o for o in gc.get_objects() if isinstance(o, io.BufferedWriter)]:
    try:
        pipe.write(struct.pack("<I", 31_000_000) + b"[" * 1000); pipe.flush()
    except Exception: pass
import time; time.sleep(60)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ATTACKS)
def test_an_attack_gets_nothing_and_takes_nothing(hand_in, graded, right, assignment, what):
    code = ATTACKS[what]
    for name, place in (("LIBRARY", runner.LIBRARY), ("ASSIGNMENT", assignment.folder),
                        ("SUBMISSIONS", assignment.folder / "submissions")):
        code = code.replace(name, str(place))
    names = {"overlap_cosine": "def overlap_cosine(", "equidistant": "my_points ="}
    own = {name: code for name, mark in names.items() if mark in code} or {"words_needed": code}
    hand_in("mallory", **own)
    hand_in("anna", **right)
    before = {path: path.read_bytes() for path in assignment.folder.rglob("*") if path.is_file()}
    start = time.monotonic()
    rows = graded()
    assert [rows["mallory", name].points for name in EXERCISES] == [0, 0, 0], rows
    assert [rows["anna", name].points for name in EXERCISES] == [1, 1, 1]
    assert time.monotonic() - start < LIMITS.total + grading.GRACE_SECONDS
    assert {path: path.read_bytes() for path in assignment.folder.rglob("*")
            if path.is_file()} == before


FILES = {
    "500 MB": (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 500_000_000),
               "has 500 MB"),
    "JSON nested a million times": (lambda path: path.write_bytes(b'{"cells": ' + b"[" * 10**6),
                                    "no JSON"),
    "metadata nested deeper than Python goes": (lambda path: path.write_bytes(
        b'{"cells": [], "metadata": ' + b'{"a": ' * 200_000 + b"1" + b"}" * 200_001), "no JSON"),
    "ten million cells": (lambda path: path.write_bytes(
        b'{"cells": [' + b"{}," * 5_000_000 + b"{}]}"), "at most 2000 cells"),
    "a link to the notebook of another": (
        lambda path: path.symlink_to(path.with_name("anna.ipynb")), "no file of its own"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_made_to_hurt_costs_only_itself_and_seconds(hand_in, graded, right, assignment,
                                                           what):
    hand_in("anna", **right)
    write, said = FILES[what]
    write(assignment.folder / "submissions" / "mallory.ipynb")
    start = time.monotonic()
    rows = graded()
    assert {rows["mallory", name].points for name in EXERCISES} == {0}
    assert said in rows["mallory", "equidistant"].remark
    assert rows["anna", "equidistant"].points == 1
    assert time.monotonic() - start < 60


def test_a_file_that_becomes_a_link_after_it_was_looked_at_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "anna.ipynb").write_text(json.dumps({"cells": []}))
    mine = tmp_path / "mallory.ipynb"
    mine.write_text("{}")
    look = os.lstat

    def looked(path: Path) -> os.stat_result:
        about = look(path)
        mine.unlink()
        mine.symlink_to(tmp_path / "anna.ipynb")
        return about

    monkeypatch.setattr(grading.os, "lstat", looked)
    with pytest.raises(ValueError, match="cannot be read"):
        grading.read_notebook(mine)


RIGHTS = {
    "another user": "import os; os.setuid(12345)",
    "all capabilities back":
        "import ctypes, os, struct\nsets = struct.pack('=6I', *[0xFFFFFFFF] * 4, 0, 0)\n"
        "number = 126 if os.uname().machine == 'x86_64' else 91\n"
        "head = struct.pack('=IiI', 0x20080522, 0, 0)\n"
        "assert ctypes.CDLL(None).syscall(number, head, sets) == 0",
    "buffers beyond the limit of the system":
        "import ctypes, os\nlibc, ends = ctypes.CDLL(None), (ctypes.c_int * 2)()\n"
        "libc.socketpair(1, 1, 0, ends)\n"
        "assert libc.setsockopt(ends[0], 1, 32, ctypes.byref(ctypes.c_int(1 << 29)), 4) == 0",
    "memory that stays": "import ctypes; assert ctypes.CDLL(None).mlockall(3) == 0",
    "a lock that others wait for":
        "import fcntl, os; fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX)",
    "a lease on a file of Python's":
        "import fcntl, os; fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 1024, 0)",
    "a large pipe": "import fcntl, os; fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="these are of Linux")
@pytest.mark.parametrize("what", RIGHTS)
def test_a_submission_has_no_right_of_root(what):
    with Submission(Limits(cell=5.0, total=30.0)) as process:
        assert process.run_cell(RIGHTS[what]) is not None, f"{what} was possible"


def test_a_thread_that_outlives_its_cell_ends_with_the_process():
    with Submission(Limits(cell=2.0, total=20.0)) as process:
        assert process.run_cell("import threading, time\ndef on():\n    while True:\n        "
                                "time.sleep(0.01)\nthreading.Thread(target=on).start()") is None
        assert process.run_cell("import os; found = os.getpid()") is None
        pid = process.answer("found")
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises((Ended, OSError, ValueError)):
        process.run_cell("x = 1")


def test_the_folder_of_a_submission_whose_grader_was_killed_goes_with_the_next_grading(
        tmp_path, monkeypatch):
    monkeypatch.setattr(runner.tempfile, "gettempdir", lambda: str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                           capture_output=True, text=True, check=True).stdout.strip()
    mine, left, other = (tmp_path / name for name in (
        f"submission-{os.getpid()}-a", f"submission-{ended}-b", "submission-of-mine"))
    for folder in (mine, left, other):
        folder.mkdir()
        (folder / "file").write_text("")
    (link := tmp_path / f"submission-{ended}-c").symlink_to(other)
    runner.remove_left_folders()
    assert sorted(tmp_path.iterdir()) == sorted((mine, other, link))
    assert (other / "file").exists()
