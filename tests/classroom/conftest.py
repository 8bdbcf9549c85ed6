"""A small assignment, and a way to hand in notebooks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lessons_lib.classroom import Assignment, Graded, Limits, assign, grade, missing_protections

SEED = 12345
LIMITS = Limits(cell=1.5, call=1.5, total=40.0, memory=700_000_000)


@pytest.fixture
def confined() -> None:
    """Skip where this system cannot confine a submission: grading refuses to run there."""
    if missing := missing_protections():
        pytest.skip(f"this system cannot confine a submission: {', '.join(missing)} (Linux 5.13 or "
                    "newer can)")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """An assignment of lesson 01 with a known seed."""
    return assign(["one_hot"], tmp_path / "hw1", seed=SEED)


@pytest.fixture
def hand_in(assignment: Assignment) -> Callable[..., Path]:
    """``hand_in(student, overlap_cosine="code", …)``; ``before`` and ``after`` add cells."""

    def write(student: str, *, before: list[str] = (), after: list[str] = (),
              **answers: str) -> Path:
        notebook = json.loads(
            (assignment.folder / "student" / "01_one_hot.ipynb").read_text("utf-8"))
        for cell in notebook["cells"]:
            name = cell["metadata"].get("exercise")
            if name in answers:
                cell["source"] = answers[name] + "\n" + "".join(cell["source"]).splitlines()[-1]
        extra = [[{"cell_type": "code", "metadata": {}, "source": code, "outputs": [],
                   "execution_count": None} for code in cells] for cells in (before, after)]
        notebook["cells"] = [notebook["cells"][0], *extra[0], *notebook["cells"][1:], *extra[1]]
        path = assignment.folder / "submissions" / f"{student}.ipynb"
        path.write_text(json.dumps(notebook), "utf-8")
        return path

    return write


@pytest.fixture
def graded(assignment: Assignment) -> Callable[..., dict[tuple[str, str], Graded]]:
    """``graded()``: all rows by (student, exercise), under short limits."""

    def run(**options) -> dict[tuple[str, str], Graded]:
        rows = grade(assignment,
                     **{"limits": LIMITS, "jobs": 2, "weak": sys.platform != "linux"} | options)
        return {(row.student, row.exercise): row for row in rows}

    return run


RIGHT = {
    "overlap_cosine":
        "def overlap_cosine(a, b):\n    a, b = set(a), set(b)\n    return len(a & b) / "
        "np.sqrt(len(a) * len(b)) if a and b else 0",
    "words_needed":
        "def words_needed(counts, share):\n    total = np.cumsum(np.sort(counts)[::-1]) / "
        "np.sum(counts)\n    return 1 + int((total < share).sum())",
    "equidistant": "my_points = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]",
}


@pytest.fixture
def right() -> dict[str, str]:
    """Right answers, written otherwise than the solutions."""
    return dict(RIGHT)
