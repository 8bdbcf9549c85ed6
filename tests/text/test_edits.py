"""Edit distance: a metric on sequences, equal to its definition on small ones."""

from __future__ import annotations

import functools

from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text import edit_distance

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@functools.cache
def by_definition(a: tuple, b: tuple) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(by_definition(a[1:], b) + 1, by_definition(a, b[1:]) + 1,
               by_definition(a[1:], b[1:]) + (a[0] != b[0]))


@given(WORDS, WORDS)
def test_the_distance_is_that_of_the_definition_and_the_same_from_both_sides(a, b):
    assert edit_distance(a, b) == by_definition(tuple(a), tuple(b)) == edit_distance(b, a)


@given(WORDS, WORDS, WORDS)
def test_a_detour_is_never_shorter(a, b, c):
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)
    assert (edit_distance(a, b) == 0) == (a == b)


def test_words_count_as_one_step_however_long_they_are():
    assert edit_distance(["a", "man", "sings"], ["the", "man", "sings"]) == 1
    assert edit_distance("a man sings", "the man sings") == 3
    assert edit_distance([], ["word"]) == 1 and edit_distance([], []) == 0
