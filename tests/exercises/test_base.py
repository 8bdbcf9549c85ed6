"""Exercises: the judges refuse what is wrong, forgive a stub, and tell an error of the learner in
one line.
"""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib import exercises
from lessons_lib.exercises import (Exercise, audit, for_lesson, judge_function, judge_value,
                                   solution_text, stems, verdict)
from lessons_lib.exercises._compare import difference, size_of


def _solve_mean(rows: list[float]) -> float:
    return sum(rows) / len(rows)


def mean_exercise(**changes) -> Exercise:
    parts = dict(name="mean", judge=judge_function(_solve_mean,
                                                   [([1.0, 2.0, 6.0],), ([4.0],),
                                                    ([0.0, 0.0, 5.0, 7.0],)]), solution=_solve_mean,
                 wrong={"the median": lambda rows: sorted(rows)[len(rows) // 2],
                        "one too few": lambda rows: sum(rows) / max(1, len(rows) - 1)},
                 hints=("How many numbers are there?",))
    return Exercise(**parts | changes)


def test_the_solution_is_correct_and_each_planted_answer_is_refused():
    (line,) = audit({"mean": mean_exercise()})
    assert line.ok and line.refused == ("the median", "one too few") and line.missed == ()
    assert str(
        line) == "mean: accepts the solution, rejects 2 wrong answers: the median | one too few"


def test_an_audit_names_a_wrong_answer_that_gets_through():
    cheap = judge_function(_solve_mean, [([4.0],)])  # one number: its median is its mean
    (line,) = audit({"mean": mean_exercise(judge=cheap)})
    assert not line.ok and line.missed == ("the median", "one too few")
    assert "ACCEPTS the median" in str(line)


def test_an_audit_names_a_judge_that_refuses_the_solution():
    (line,) = audit({"mean": mean_exercise(judge=judge_function(lambda rows: 0, [([4.0],)]))})
    assert not line.ok and "REFUSES THE SOLUTION" in str(line)


def test_a_planted_answer_that_counts_as_not_attempted_is_not_refused():
    (line,) = audit({"mean": mean_exercise(wrong={"nothing": None,
                                                  "the median": lambda rows: sorted(rows)[len(rows)
                                                                                          // 2]})})
    assert line.missed == ("nothing",)


def stub(rows):
    raise NotImplementedError


def partly_done(rows):
    if len(rows) > 1:
        raise NotImplementedError
    return rows[0]


@pytest.mark.parametrize(("answer", "said"), [
    *((answer, "not attempted yet") for answer in (None, ..., stub, partly_done)),
    (lambda rows: sum(rows) / 2, "for f([4.0]): expected 4, yours is 2"),    # the smallest case
    (5, "expected a function, yours is int: 5"),
    (lambda rows: None, "for f([4.0]): expected 4, yours is None (is a `return` missing?)")])
def test_a_verdict_says_what_is_wrong_and_forgives_a_stub(answer, said):
    assert verdict(mean_exercise(), answer) == said


def test_an_error_in_the_learners_code_is_one_line_with_its_line_number():
    def mine(rows):
        scale = 1
        return rows[10] / scale

    text = verdict(mean_exercise(), mine)
    line = mine.__code__.co_firstlineno + 2
    assert text == (f"your code stopped in line {line} with IndexError: list index out of range "
                    "(called as mine([4.0]))")


def test_the_line_is_the_learners_even_when_a_library_raises():
    def mine(rows):
        return np.zeros((2, 2)) @ np.zeros(3)

    assert f"in line {mine.__code__.co_firstlineno + 1} with ValueError" in verdict(
        mean_exercise(), mine)


def test_a_long_or_many_lined_error_message_is_cut_to_one_line():
    def mine(rows):
        raise ValueError("first\nsecond " + "x" * 1000)

    text = verdict(mean_exercise(), mine)
    assert "\n" not in text and len(text) < 300 and "first second" in text


def test_a_judge_that_an_answer_stops_is_told_and_nothing_raised():
    careless = mean_exercise(judge=lambda answer: None if answer["a"] else "no")
    said = "your answer cannot be judged: it stopped the check with TypeError"
    assert verdict(careless, 5).startswith(said)


def test_a_learner_cannot_change_the_cases():
    def greedy(rows):
        value = sum(rows) / len(rows)
        rows.clear()
        return value

    exercise = mean_exercise()
    assert verdict(exercise, greedy) == "correct"
    assert verdict(exercise, greedy) == "correct"
    assert verdict(exercise, _solve_mean) == "correct"


def test_keyword_cases_and_arrays_are_shown_in_the_call():
    judge = judge_function(lambda X, k=1: X * k, [{"X": np.array([[1.0, 2.0]]), "k": 3}])
    exercise = mean_exercise(judge=judge, solution=lambda X, k: X * k)
    assert verdict(exercise, lambda X, k: X * k) == "correct"
    text = verdict(exercise, lambda X, k: X)
    assert "f(X=[[1., 2.]], k=3)" in text and "expected 3 at [0, 0], yours is 1" in text


@pytest.mark.parametrize(("cases", "kind", "message"), [([], ValueError, "0 cases"),
                                                        ([[1, 2]], TypeError, "expected a tuple")])
def test_bad_cases_are_refused_when_the_judge_is_made(cases, kind, message):
    with pytest.raises(kind, match=message):
        judge_function(_solve_mean, cases)


@pytest.mark.parametrize(("changes", "message"), [
    ({"name": "Mean pool"}, "no exercise name"), ({"hints": ()}, "tuple of >= 1"),
    ({"hints": "one"}, "tuple of >= 1"), ({"wrong": {"a": 1}}, ">= 2"),
])
def test_an_exercise_without_a_name_hints_or_two_wrong_answers_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        mean_exercise(**changes)


def test_a_value_is_judged_within_its_tolerance_and_may_stay_secret():
    judge = judge_value(lambda: 47.0, rtol=0.1, remark="Think of the shares.")
    assert judge(45) is None and judge(60) == "not 60. Think of the shares."
    assert judge_value("cosine")("dot") == "expected 'cosine', yours is 'dot'"


def test_a_measured_value_is_measured_once():
    calls = []
    judge = judge_value(lambda: calls.append(1) or 3)
    assert judge(3) is None and judge(4) is not None and calls == [1]


def test_the_solution_is_shown_as_source_without_its_prefix():
    assert solution_text(mean_exercise()).startswith("def mean(rows: list[float])")
    assert solution_text(mean_exercise(solution=["a", "b"])) == "['a', 'b']"


@pytest.mark.parametrize(("got", "expected"), [
    ((1, 2), [1, 2]), (np.array([1.0, 2.0]), [1, 2]),
    (sparse.csr_array([[0, 1]]), np.array([[0, 1]])), ({"a": [1.0]}, {"a": (1,)}),
    ({1, 2}, frozenset({2, 1})), (1.0 + 1e-9, 1), (["a"], ("a",)), (float("nan"), float("nan")),
    (True, True), (None, None), ([], []), ([[1], [1, 2]], [[1], [1, 2]]),
])
def test_equal_values_of_different_kinds_are_accepted(got, expected):
    assert difference(got, expected) is None


@pytest.mark.parametrize(("got", "expected", "message"), [
    (np.zeros((2, 3)), np.zeros((3, 2)), "expected shape (3, 2), yours has shape (2, 3)"),
    ([1, 2], {1, 2}, "expected a set"), ({"a": 1}, {"a": 1, "b": 2}, "yours lacks it"),
    ({"a": 1, "c": 2}, {"a": 1}, "should not be there"),
    ({"a": [1, 2]}, {"a": [1, 3]}, "at key 'a': expected 3 at [1], yours is 2"),
    ("12", 12, "expected 12, yours is '12'"), (float("nan"), 1.0, "yours is nan"),
    (["a", "b"], ["a"], "expected 1 items, yours has 2"), ("ab", ["a", "b"], "yours is str"),
    (["b", "a"], ["a", "b"], "at [0]: expected 'a', yours is 'b'"),
    ({1}, {1, 2}, "expected 2 in the set"), ({1, 3}, {1}, "3 should not be in the set"),
])
def test_a_difference_says_where_and_what(got, expected, message):
    assert message in difference(got, expected)


nested = st.recursive(st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=3) | st.booleans(),
                      lambda inner: st.lists(inner, max_size=3)
                      | st.dictionaries(st.text(max_size=2), inner, max_size =3), max_leaves=8)


@given(nested)
def test_every_value_equals_itself_and_has_a_size(value):
    assert difference(value, value) is None
    assert size_of(value) >= 1


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), st.data())
def test_one_changed_number_is_found_at_its_place(values, data):
    place = data.draw(st.integers(0, len(values) - 1))
    changed = [v + 1 if i == place else v for i, v in enumerate(values)]
    assert f"at [{place}]" in difference(changed, values)


@pytest.fixture
def planted_lesson(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("lessons_lib.exercises.planted")
    module.EXERCISES = {"mean": mean_exercise()}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(exercises.base, "stems", lambda: ["planted", "planter"])
    return "planted"


def test_the_registry_finds_a_lessons_file(planted_lesson):
    assert list(for_lesson(planted_lesson)) == ["mean"]
    assert audit(planted_lesson)[0].ok


def test_P27_an_unknown_lesson_gets_the_nearest_name(planted_lesson):
    with pytest.raises(ValueError, match="'plantd' is unknown.*Did you mean 'plante[dr]'"):
        for_lesson("plantd")


def test_a_key_that_is_not_the_exercises_name_is_refused(planted_lesson):
    sys.modules["lessons_lib.exercises.planted"].EXERCISES = {"average": mean_exercise()}
    with pytest.raises(ValueError, match="'average' holds the exercise 'mean'"):
        for_lesson(planted_lesson)


def test_the_runtime_files_are_no_lessons():
    assert "base" not in stems() and not any(stem.startswith("_") for stem in stems())


# lesson: how many planted answers each of its judges refuses at least, where it is not four
FEWEST = {"start_here": 2, "one_hot": 2, "bag_of_words": 3, "topic_models": 3, "word2vec": 3,
          "glove_and_fasttext": 3, "sif_and_usif": 3, "doc2vec": 3,
          "gpu_kernels": 3, "bert_sentence_vectors": 3, "sbert": 3, "bert_flow": 3,
          "bert_whitening": 3, "cosent": 3, "anisotropy": 3, "simcse": 3, "outlook": 3,
          "search": 3}


@pytest.mark.parametrize("lesson_id", stems())
def test_every_exercise_of_the_course_accepts_its_solution_and_refuses_planted_answers(lesson_id):
    for line in audit(lesson_id):
        assert line.ok and len(line.refused) >= FEWEST.get(lesson_id, 4), line


@pytest.mark.parametrize("lesson_id", stems())
def test_the_source_of_a_solution_defines_what_the_lesson_calls(lesson_id):
    """Solved copies of assignments paste it: its name has to be the exercise's own."""
    for name, exercise in for_lesson(lesson_id).items():
        if callable(exercise.solution):
            assert f"def {name}(" in solution_text(exercise), name
