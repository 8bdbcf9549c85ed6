"""The lesson object: the same lines on every machine, exercises that never stop a notebook, rows on the leaderboard."""

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
    assert line.startswith("lesson one_hot | lessons_lib ") and f"numpy {np.__version__}" in line and "2 threads" in line
    assert "/" not in line and "0x" not in line


def test_question_settings_and_generators_come_from_front_matter_scale_and_seed(lesson, notebooks):
    assert lesson.question == "What is the least a vector can know?"
    assert lesson.settings.n_documents == 3 and lesson.scales["laptop"].n_documents == 30
    again = start("one_hot", scale="smoke", seed=3, notebooks=notebooks)
    assert lesson.rng.integers(1 << 40) == again.rng.integers(1 << 40)
    assert repr(lesson) == "Lesson('one_hot', scale='smoke', seed=3)"


def test_the_torch_generator_is_seeded_and_made_once(lesson):
    import torch

    assert lesson.generator is lesson.generator
    assert lesson.generator.initial_seed() == 3 and torch.get_num_threads() == 2


@pytest.mark.parametrize(("seed", "kind"), [(-1, ValueError), (1.5, TypeError), (None, TypeError), (True, TypeError)])
def test_P24_a_seed_is_an_int_of_at_least_zero(notebooks, seed, kind):
    with pytest.raises(kind, match="seed="):
        start("one_hot", seed=seed, notebooks=notebooks)


def test_P27_start_names_the_nearest_lesson_and_scale(notebooks):
    with pytest.raises(ValueError, match="Did you mean 'one_hot'"):
        start("onehot", notebooks=notebooks)
    with pytest.raises(ValueError, match="Did you mean 'smoke'"):
        start("one_hot", scale="smoky", notebooks=notebooks)


@pytest.mark.slow
def test_start_imports_no_torch_and_fixes_the_threads_of_what_comes_later(notebooks):
    code = ("import sys, os; import lessons_lib as ll; ll.start('one_hot', notebooks=sys.argv[1]); "
            "print('torch' in sys.modules, 'plotly' in sys.modules, os.environ['OMP_NUM_THREADS'], os.environ['NUMBA_NUM_THREADS'])")
    done = subprocess.run([sys.executable, "-c", code, str(notebooks)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False 2 2"


def test_check_prints_the_verdict_and_never_stops_a_notebook(lesson, capsys):
    capsys.readouterr()
    for answer in (2, 1, None):
        lesson.check("pair", answer)
    assert capsys.readouterr().out.splitlines() == ["pair: correct", "pair: expected 2, yours is 1", "pair: not attempted yet"]


def test_hints_come_one_after_the_other(lesson, capsys):
    capsys.readouterr()
    for _ in range(3):
        lesson.hint("pair")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["pair, hint 1 of 2: It is even.", "pair, hint 2 of 2: It is prime."] and "no more hints" in lines[2]


def test_solution_shows_code_and_audit_prints_every_check(lesson, displayed, capsys):
    lesson.solution("pair")
    assert displayed[0][0]["text/plain"] == "2"
    capsys.readouterr()
    lesson.audit()
    assert capsys.readouterr().out == "pair: accepts the solution, rejects 2 wrong answers: one | three\n"


def test_an_audit_that_fails_stops_the_build(lesson, monkeypatch):
    loose = Exercise("pair", lambda answer: None, 2, {"one": 1, "three": 3}, ("It is even.",))
    monkeypatch.setattr(exercises, "for_lesson", lambda lesson_id: {"pair": loose})
    with pytest.raises(AssertionError, match="worth nothing: pair"):
        lesson.audit()


def test_P27_an_unknown_exercise_gets_the_nearest_name(lesson):
    for method in (lesson.hint, lesson.solution, lambda name: lesson.check(name, 1)):
        with pytest.raises(ValueError, match="Did you mean 'pair'"):
            method("pairs")


def test_a_lesson_without_a_file_of_exercises_has_none(notebooks, monkeypatch):
    monkeypatch.setattr(exercises, "stems", lambda: ["one_hot"])
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
    assert [(row.encoder, row.lesson, row.scale, row.seed) for row in rows] == [("mine", "one_hot", "smoke", 3), ("also mine", "one_hot", "smoke", 3)]
    assert rows[0].spearman("four-pairs") == pytest.approx(lesson.results["mine"]["four-pairs"].spearman, abs=1e-6)
    table, figure = displayed[0][0], displayed[1][0]
    assert "also mine" in table.to_text() and "four-pairs" in table.to_text() and "second" not in table.to_text()
    assert figure["text/plain"].startswith("Dot plot of Spearman")


def test_the_leaderboard_shows_this_lesson_and_earlier_ones(lesson, displayed, notebooks):
    lesson.leaderboard_cell(Letters(), datasets=[Pairs()])
    start("start_here", notebooks=notebooks).leaderboard_cell({"first": Letters()}, datasets=[Pairs()])
    assert "first" in displayed[1][0].to_text() and "letters" not in displayed[1][0].to_text()
    assert len(displayed) == 2                    # one row alone is no comparison: no plot
    lesson.leaderboard_cell(Letters(), datasets=[Pairs()])
    text = displayed[2][0].to_text()
    assert text.index("first") < text.index("letters") and len(displayed) == 4


def test_encoders_need_names_of_their_own(lesson):
    with pytest.raises(ValueError, match="name of its own"):
        lesson.leaderboard_cell([Letters(), Letters()], datasets=[Pairs()])
    with pytest.raises(TypeError, match="expected an encoder"):
        lesson.leaderboard_cell([3], datasets=[Pairs()])
    with pytest.raises(ValueError, match="0 encoders"):
        lesson.leaderboard_cell({}, datasets=[Pairs()])


def test_numbers_are_rounded_for_a_message_and_keep_their_names(lesson):
    values = {"mean": np.float64(2) / 3, ("a", 1): np.float32(0.126), "no": 4}
    assert str(lesson.rounded(values)) == "{'mean': 0.67, ('a', 1): 0.13, 'no': 4.0}"
    assert lesson.rounded(np.array([1.26, -0.04]), 1) == [1.3, -0.0]
