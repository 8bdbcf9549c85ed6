"""What is no answer at all: every judge refuses it, says so in a line, and takes no time for it."""

from __future__ import annotations

import copy
import time
import warnings

import numpy as np
import pytest

from lessons_lib.exercises import for_lesson, stems, verdict

VALUES = [(lesson, name) for lesson in stems() for name,
          exercise in for_lesson(lesson).items() if not callable(exercise.solution)]


def numbers_in(value):
    """The places of all numbers in a value, each as the keys that lead there."""
    if isinstance(value, np.ndarray):
        return list(np.ndindex(value.shape))
    pairs = (value.items() if isinstance(value, dict) else enumerate(value)
             if isinstance(value, (list, tuple)) else [])
    return [(key, *rest) for key, inner in pairs
            for rest in ([()] if isinstance(inner, (int, float)) else numbers_in(inner))]


def with_number(value, place, number):
    """A copy of the value with another number at one place."""
    if isinstance(value, np.ndarray):
        changed = value.astype(float)
        changed[place] = number
        return changed
    changed = list(value) if isinstance(value, tuple) else copy.copy(value)
    changed[place[0]] = (number if len(place) == 1 else with_number(changed[place[0]], place[1:],
                                                                    number))
    return type(value)(changed) if isinstance(value, tuple) else changed


@pytest.mark.parametrize("lesson, name", VALUES)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf], ids=str)
def test_a_number_that_is_none_is_refused_at_every_place(lesson, name, number):
    exercise = for_lesson(lesson)[name]
    places = numbers_in(exercise.solution)
    answers = [with_number(exercise.solution, place, number) for place in places] + [number]
    everywhere = exercise.solution
    for place in places:
        everywhere = with_number(everywhere, place, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        accepted = [answer for answer in answers + [everywhere] * bool(places)
                    if verdict(exercise, answer) == "correct"]
    assert accepted == []


@pytest.mark.parametrize("lesson, name", VALUES)
def test_an_answer_of_any_size_is_refused_in_a_line_and_at_once(lesson, name):
    for answer in (np.zeros((3000, 1000)), {"a" * 10**6}, ["b" * 10**6] * 6, [["c" * 10**5], ["d"]],
                   np.full((2, 2), 1e308)):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found = verdict(for_lesson(lesson)[name], answer)
        assert found != "correct" and len(found) < 3000 + 10**5 and time.perf_counter() - start < 3
