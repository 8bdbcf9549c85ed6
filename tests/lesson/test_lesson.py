"""The lesson object: the same lines on every machine, exercises never stop a notebook, rows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from lessons_lib import exercises
from lessons_lib.exercises import Exercise, judge_value
from lessons_lib.lesson import start

PAIR = Exercise("pair", judge_value(2), 2, {"one": 1, "three": 3}, ("It is even.", "It is prime."))


@pytest.fixture
def lesson(notebooks, monkeypatch):
    monkeypatch.setattr(exercises, "stems", lambda: ["one_hot"])
    monkeypatch.setattr(exercises, "for_lesson", lambda lesson_id: {"pair": PAIR})
    return start("one_hot", scale="smoke", seed=3, notebooks=notebooks)


def test_start_prints_one_line_without_path_time_or_address(lesson, capsys, notebooks):
    start("one_hot", notebooks=notebooks)
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("lesson one_hot | lessons_lib ") and f"numpy {np.__version__}" in line
    assert "2 threads" in line and "/" not in line and "0x" not in line


def test_question_settings_and_generators_come_from_front_matter_scale_and_seed(lesson, notebooks):
    import torch

    assert lesson.question == "What is the least a vector can know?"
    assert lesson.settings.n_documents == 3 and lesson.scales["laptop"].n_documents == 30
    again = start("one_hot", scale="smoke", seed=3, notebooks=notebooks)
    assert lesson.rng.integers(1 << 40) == again.rng.integers(1 << 40)
    assert lesson.generator is lesson.generator and lesson.generator.initial_seed() == 3
    assert torch.get_num_threads() == 2
    assert repr(lesson) == "Lesson('one_hot', scale='smoke', seed=3)"


@pytest.mark.slow
def test_start_imports_no_torch_and_fixes_the_threads_of_what_comes_later(notebooks):
    code = ("import sys, os; import lessons_lib as ll; ll.start('one_hot', notebooks=sys.argv[1]); "
            "print('torch' in sys.modules, 'plotly' in sys.modules, "
            "os.environ['OMP_NUM_THREADS'], os.environ['NUMBA_NUM_THREADS'])")
    done = subprocess.run([sys.executable, "-c", code, str(notebooks)], capture_output=True,
                          text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False 2 2"


def test_check_prints_the_verdict_and_never_stops_a_notebook(lesson, capsys):
    capsys.readouterr()
    for answer in (2, 1, None):
        lesson.check("pair", answer)
    assert capsys.readouterr().out.splitlines() == [
        "pair: correct", "pair: expected 2, yours is 1", "pair: not attempted yet"]


def test_a_check_that_passes_shows_a_tick_and_a_colour(lesson, displayed, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", object)
    lesson.check("pair", 2)
    data, _ = displayed[0]
    assert data["text/plain"] == "pair: correct"
    assert "✓" in data["text/html"] and "color:" in data["text/html"]


def test_hints_come_one_after_the_other(lesson, capsys):
    capsys.readouterr()
    for _ in range(3):
        lesson.hint("pair")
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "pair, hint 1 of 2: It is even." and "no more hints" in third
    assert second == "pair, hint 2 of 2: It is prime."


def test_solution_shows_code_and_audit_prints_every_check(lesson, displayed, capsys):
    lesson.solution("pair")
    assert displayed[0][0]["text/plain"] == "2"
    capsys.readouterr()
    lesson.audit()
    said = "pair: accepts the solution, rejects 2 wrong answers: one | three\n"
    assert capsys.readouterr().out == said


def test_an_audit_that_fails_stops_the_build(lesson, monkeypatch):
    loose = Exercise("pair", lambda answer: None, 2, {"one": 1, "three": 3}, ("It is even.",))
    monkeypatch.setattr(exercises, "for_lesson", lambda lesson_id: {"pair": loose})
    with pytest.raises(AssertionError, match="worth nothing: pair"):
        lesson.audit()


def test_a_lesson_without_a_file_of_exercises_has_none(lesson, notebooks):
    assert start("start_here", notebooks=notebooks).exercises == {}


class Letters:
    """Counts of the letters a to e: a tiny encoder."""

    name, dim = "letters", 5

    def encode(self, texts, *, batch_size=256, progress=False):
        return np.array([[text.count(c) for c in "abcde"] for text in texts], dtype=np.float32)


class Pairs:
    """Four graded sentence pairs."""

    name, split, subset, scale = "four-pairs", "test", None, (0.0, 5.0)
    sentence1 = ("a bad cab", "a bee", "dead bed", "cab")
    sentence2 = ("a bad cab", "a bed", "a cab", "eee")
    score = np.array([5.0, 3.0, 1.0, 0.0])


def test_the_leaderboard_cell_adds_rows_and_shows_table_and_plot(lesson, displayed):
    lesson.leaderboard_cell({"mine": Letters(), "also mine": Letters()}, datasets=[Pairs()])
    rows = lesson.leaderboard.rows()
    assert [(row.encoder, row.lesson, row.scale, row.seed) for row in rows] == [
        ("mine", "one_hot", "smoke", 3), ("also mine", "one_hot", "smoke", 3)]
    measured = lesson.results["mine"]["four-pairs"].spearman
    assert rows[0].spearman("four-pairs") == pytest.approx(measured, abs=1e-6)
    table, figure = displayed[0][0].to_text(), displayed[1][0]
    assert "also mine" in table and "four-pairs" in table and "second" not in table
    assert figure["text/plain"].startswith("Dot plot of Spearman")
    lesson.leaderboard_cell({"mine": Letters()}, datasets=[Pairs()], figures=False)
    assert len(displayed) == 3 and "mine" in displayed[2][0].to_text()


def test_the_leaderboard_shows_this_lesson_and_earlier_ones(lesson, displayed, notebooks):
    lesson.leaderboard_cell(Letters(), datasets=[Pairs()])
    other = start("start_here", notebooks=notebooks)
    other.leaderboard_cell({"first": Letters()}, datasets=[Pairs()])
    text = displayed[1][0].to_text()
    assert "first" in text and "letters" not in text
    assert len(displayed) == 2                    # one row alone is no comparison: no plot
    lesson.leaderboard_cell(Letters(), datasets=[Pairs()])
    text = displayed[2][0].to_text()
    assert text.index("first") < text.index("letters") and len(displayed) == 4


def test_numbers_are_rounded_for_a_message_and_keep_their_names(lesson):
    values = {"mean": np.float64(2) / 3, ("a", 1): np.float32(0.126), "no": 4}
    assert str(lesson.rounded(values)) == "{'mean': 0.67, ('a', 1): 0.13, 'no': 4.0}"
    assert lesson.rounded(np.array([1.26, -0.04]), 1) == [1.3, -0.0]


def test_a_lesson_shows_its_rows_beside_the_best_before(lesson, displayed, notebooks):
    other = start("start_here", notebooks=notebooks)
    other.leaderboard_cell({f"early {k}": Letters() for k in range(8)}, datasets=[Pairs()])
    lesson.leaderboard_cell({"mine": Letters(), "control": Letters()}, datasets=[Pairs()])
    table = displayed[-2][0]
    assert [row[1] for row in table.rows] == ["early 0", "mine", "control"]
    lesson.leaderboard_cell({f"mine {k}": Letters() for k in range(9)}, datasets=[Pairs()])
    assert len(displayed[-2][0].rows) == 6
