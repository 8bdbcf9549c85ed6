"""An entry in a line: means over what both have, chosen numbers, and numbers of every size."""

from __future__ import annotations

import dataclasses
import math

import pytest

from lessons_lib.reproduce import entries, headline
from lessons_lib.reproduce.recorded import Record

ENTRY = dataclasses.replace(entries()["su2021_table1"], headline={})


def told(measured, printed=None, entry=ENTRY, **settings):
    entry = dataclasses.replace(entry, printed=printed or {})
    return headline(entry, Record(entry.id, entry.printed, measured, {"a claim": True}, "laptop", "", "", settings=settings))


def test_a_row_is_told_by_its_mean_over_the_places_that_both_have():
    assert told({"a": {0: 1.0, 1: 3.0, 2: 500.0}, "b": {0: 1.0}}, {"a": {0: 10.0, 1: 20.0, 9: 1.0}, "c": {0: 1.0}}) == ("a: 15.0", "a: 2.00")


def test_where_nothing_is_printed_rows_stand_alone_without_spread_and_control():
    assert told({"a": {0: 1.0, 1: 2.0}, "a, sd": {0: 0.1}, "a, untrained": {0: 0.5}}) == ("", "a: 1.50")


def test_an_entry_chooses_its_numbers_and_the_model_that_was_read_is_named():
    entry = dataclasses.replace(ENTRY, headline={"LessonBERT, first": ("LessonBERT", 1), "last": ("LessonBERT", math.inf)})
    found = told({"LessonBERT": {1: 5.0, 2: 6.0}}, {"LessonBERT": {2: 7.0}}, entry, encoder="/models/big-bert/")
    assert found == ("last: 7.00", "big-bert, first: 5.00; last: 6.00")


@pytest.mark.parametrize(("value", "text"), [(-0.001, "0.00"), (-12.34, "-12.3"), (2345.6, "2,346"), (1.234e9, "1.23e+09"), (math.inf, "∞")])
def test_numbers_of_every_size(value, text):
    assert told({"a": {0: value}})[1] == f"a: {text}"
