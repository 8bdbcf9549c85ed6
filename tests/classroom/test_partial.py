"""Points for what is right in part: none by chance, all for the whole, and no unseen input told."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from lessons_lib.classroom.partial import CORRECT, Tried, kind_of
from lessons_lib.exercises import Exercise, for_lesson, judge_function, stems, verdict
from lessons_lib.exercises._compare import size_of, written

FUNCTIONS = [(lesson, name) for lesson in stems() for name, exercise in for_lesson(lesson).items()
             if exercise.fresh is not None]


def tried(exercise: Exercise, answer, seed: int = 0) -> Tried:
    """An answer on all inputs, as `grade` tries it, without a process of its own."""
    def remarks(judge) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")          # wrong answers divide by zero and overflow
            return [verdict(replace(exercise, judge=judge.on([case]), fresh=None), answer)
                    for case in judge.cases]

    hidden = exercise.judge.on(exercise.fresh(seed))
    return Tried(exercise, hidden, remarks(exercise.judge), remarks(hidden))


def task(examples, fresh, solution=lambda x: 2 * x) -> Exercise:
    """An exercise that asks for a function of one number."""
    return Exercise(name="double", judge=judge_function(solution, [(x,) for x in examples]),
                    solution=solution, hints=("twice",), wrong={"a": None, "b": None},
                    fresh=lambda seed: [(x,) for x in fresh])


@pytest.mark.parametrize("lesson, name", FUNCTIONS)
def test_solutions_get_all_planted_answers_not_all_and_constants_and_the_fault_nothing(lesson,
                                                                                       name):
    exercise = for_lesson(lesson)[name]
    whole = tried(exercise, exercise.solution)
    assert (whole.points, whole.remark) == (1.0, "correct")
    earned = {label: tried(exercise, wrong).points for label, wrong in exercise.wrong.items()}
    assert all(0 <= points < 1 for points in earned.values())
    assert earned.get("the code as it was", 0) == 0
    for case in exercise.judge.cases if hasattr(exercise.judge, "spec") else ():
        args, keywords = ((), case) if isinstance(case, dict) else (case, {})
        constant = exercise.solution(*args, **keywords)
        assert tried(exercise, lambda *_, constant=constant, **__: constant).points == 0


@pytest.mark.parametrize("lesson, name", FUNCTIONS)
def test_what_is_told_of_an_unseen_input_is_its_kind(lesson, name):
    exercise = for_lesson(lesson)[name]
    one, two = (replace(tried(exercise, exercise.solution, seed), on_hidden=["secret"])
                for seed in (1, 2))
    assert "secret" not in one.told and one.told.endswith("does not give the expected answer.")
    for value in one.hidden.cases[0] if isinstance(one.hidden.cases[0], tuple) else ():
        if size_of(value) > 2:
            assert written(value) not in one.told
    assert two.told.count(" = ") == one.told.count(" = ")


def test_points_are_tenths_of_the_unseen_inputs_beyond_chance_and_no_more_than_of_the_examples():
    def points(limit, examples=(1, 2), fresh=range(3, 10)) -> float:
        return tried(task(examples, fresh), lambda x: 2 * x if x < limit else 0).points

    assert [points(limit) for limit in (3, 4, 5, 9, 10)] == [0, 0.1, 0.2, 0.8, 1]
    assert points(9, examples=(1, 2, 20, 30)) == 0.5             # half of the examples are wrong
    assert points(4, fresh=(3, 4)) == 0.5
    sign = task((-1, 2), (-3, 4, 5, 6, 7), solution=lambda x: x > 0)
    assert tried(sign, lambda x: True).points == tried(sign, lambda x: False).points == 0
    assert tried(sign, lambda x: x > 4).points == 0              # no more than by saying True
    wide = task((-1, 2), (-3, -4, 4, 5), solution=lambda x: x > 0)
    assert tried(wide, lambda x: x > 0 if x < 5 else 7).points == 0.5
    assert tried(task((1,), range(1000, 1030)), lambda x: 2 * x if x < 1029 else 0).points == 0.9


def test_the_teacher_reads_the_input_and_the_student_its_kind():
    def stops(x):
        raise {4: ValueError, 5: type("Own", (Exception,), {})}[x](f"the input was {x}")

    def half(x):
        return 2 * x if x < 4 else stops(x)

    found = tried(task((1,), (3, 4)), half)
    counts = "ight on 1 of 1 examples of the lesson and on 1 of 2 other inputs"
    assert f"(called as half(4)); r{counts}" in found.remark
    assert found.told == (f"R{counts}. The first input that is not, with x = a whole number > 0: "
                          "there your function stops with ValueError.")
    assert tried(task((1,), (3, 5)), half).told.endswith("stops with an error.")
    late = replace(found, on_hidden=[CORRECT, "your code stopped: took longer than 10 s (called"])
    assert late.told.endswith("your function takes too long.")
    shown = tried(task((1, 4), (3,)), lambda x: 2 * x if x < 4 else 9)
    assert shown.told.endswith("The first example that is not: for f(4): expected 8, yours is 9.")


@pytest.mark.parametrize("value, kind", [
    ([], "an empty list"), (["a"], "a list of 1 text"), ((1, "a"), "a tuple of 2 items"),
    ("", "an empty text"), ("a", "a text of 1 character"), ({1: 2}, "a dict of 1 item"),
    (np.zeros((2, 3)), "an array of shape (2, 3)"), ({1, 2}, "a set of 2 items"), (0, "0"),
    (-3, "a whole number < 0"), (0.5, "a number > 0"), (-np.inf, "-inf"), (True, "True"),
    (None, "None"), (len, "a function"),
    (np.float32(0.5), "a number > 0")])
def test_a_kind_says_what_and_how_many(value, kind):
    assert kind_of(value) == kind
