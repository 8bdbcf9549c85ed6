"""Inputs made for a class: as sharp as the lesson's own, different for each seed, and plain enough
to be sent to another process.
"""

from __future__ import annotations

import warnings

import pytest

from lessons_lib.exercises import Exercise, for_lesson, judge_function, stems, unseen_judge, verdict
from lessons_lib.exercises._compare import difference, written

FRESH = [(lesson, name) for lesson in stems() for name,
         exercise in for_lesson(lesson).items() if exercise.fresh is not None]


def outcome(exercise: Exercise, judge, answer) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # wrong answers divide by zero and overflow
        return verdict(Exercise(name=exercise.name, judge=judge, solution=None,
                                wrong=exercise.wrong, hints=exercise.hints), answer)


@pytest.mark.parametrize("lesson, name", FRESH)
@pytest.mark.parametrize("seed", range(4))
def test_fresh_inputs_accept_the_solution_and_refuse_each_planted_answer(lesson, name, seed):
    exercise = for_lesson(lesson)[name]
    fresh = exercise.judge.on(exercise.fresh(seed))
    assert outcome(exercise, fresh, exercise.solution) == "correct"
    assert [label for label, wrong in exercise.wrong.items() if outcome(exercise, fresh,
                                                                        wrong) == "correct"] == []


@pytest.mark.parametrize("lesson, name", FRESH)
def test_a_seed_makes_the_same_inputs_again_and_another_seed_others(lesson, name):
    fresh = for_lesson(lesson)[name].fresh
    assert [written(case, 5000) for case in fresh(1)] == [written(case, 5000) for case in fresh(1)]
    assert [written(case, 5000) for case in fresh(1)] != [written(case, 5000) for case in fresh(2)]


def test_every_exercise_that_asks_for_a_function_has_fresh_inputs():
    functions = {(lesson, name) for lesson in stems() for name,
                 exercise in for_lesson(lesson).items() if callable(exercise.solution)}
    assert functions == set(FRESH)


def _solve_double(x: float) -> float:
    return 2 * x


def test_the_unseen_judge_tries_the_examples_first_and_then_the_fresh_inputs():
    exercise = Exercise(name="double", judge=judge_function(_solve_double, [(1.0,)]),
                        solution=_solve_double, hints=("twice",), wrong={
                            "plus one": lambda x: x + 1, "one": lambda x: 2.0
                        }, fresh=lambda seed: [(10.0 + seed,)])
    assert verdict(exercise, lambda x: x + 1) == "correct"         # the example does not see it
    assert unseen_judge(exercise, 3)(lambda x: x + 1) == "for f(13): expected 26, yours is 14"
    assert unseen_judge(exercise, 3)(lambda x: 5.0).startswith("for f(1)")
    assert unseen_judge(exercise, 3)(_solve_double) is None


def test_fresh_inputs_need_a_judge_that_takes_cases():
    with pytest.raises(TypeError, match="'double' has fresh cases but a judge without"):
        Exercise(name="double", judge=lambda mine: None, solution=2, wrong={"a": 1, "b": 3},
                 hints=("twice",), fresh=lambda seed: [(1,)])


def test_cases_are_not_shared_between_two_draws():
    first, second = (for_lesson("anisotropy")["push"].fresh(5) for _ in range(2))
    first[0][0][:] = 0
    assert difference(first[0][0], second[0][0]) is not None
