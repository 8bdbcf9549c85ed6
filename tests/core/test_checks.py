"""Argument checks: every message names argument, value, what is allowed and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import (DataWarning, check_array, check_choice, check_float, check_int,
                              check_seed, checked_texts, checked_token_lists, generator,
                              nearest_name, shown, unknown_keyword)
from lessons_lib.core.checks import check_kind, check_rounds, keyword_guard, taken, warn_data

V, T = ValueError, TypeError
ROWS = np.array([[1, 1], [np.nan, 1], [1, 1], [1, np.inf]])


def texts(documents, **options):
    return list(checked_texts(documents, **options))


CALLS = [
    # P01, P04, P24, P27: numbers and names
    *((lambda x=x: check_int("dim", x), V, [f"dim={x} is out of range; expected int >= 1"])
      for x in (0, -1)),
    *((lambda x=x: check_int("dim", x), T, ["dim=", " is ", "; expected int >= 1"])
      for x in (1.5, "8", True, None, 2.0, np.bool_(True))),
    *((lambda x=x: check_float("learning_rate", x, low=0, open_low=True), V,
       ["learning_rate=", "expected a finite number > 0"])
      for x in (math.nan, math.inf, 0, -1, 10**400)),
    *((lambda x=x: check_float("share", x, low=0, high=1), V,
       [f"share={x} is out of range; expected a finite number >= 0 and <= 1"])
      for x in (-0.5, 1.5)),
    (lambda: check_float("t", math.nan), V, ["t=nan is out of range; expected a finite number"]),
    (lambda: check_rounds("epochs", 0), V, ["epochs=0", "int >= 1"]),
    (lambda: check_kind("path", 5, str, "a name"), T, ["path=5 is int; expected a name"]),
    *((lambda x=x: check_seed(x), (V, T), ["seed=", "int >= 0"]) for x in (-1, 1.5, None, "0")),
    (lambda: check_choice("protocol", "al", ["all", "mean"]), V,
     ["protocol='al' is unknown. Did you mean 'all'? Allowed: 'all', 'mean'"]),
    # T01, T02, T05 to T11, T14, T20: texts and token lists
    (lambda: checked_texts("a string"), T,
     ["documents='a string' is one str; expected a sequence of str. Pass a list: [text]"]),
    *((lambda none=none: texts(none), V, ["documents holds 0 documents"])
      for none in ([], iter(()))),
    *((lambda item=item: texts(["a", item]), T, ["documents[1]=", f"is {kind}; expected str"])
      for item, kind in ((None, "NoneType"), (5, "int"), (1.5, "float"), (True, "bool"))),
    (lambda: texts(["a", "b", math.nan]), T, ["documents[2] is nan (a missing value?)", "Drop it"]),
    (lambda: texts([b"abc"]), T, ["documents[0] is bytes", 'decode("utf-8")']),
    (lambda: texts([["the", "cat"]]), T, ["documents[0]", "Corpus.from_tokens"]),
    (lambda: list(checked_token_lists(["the cat", "a dog"])), T,
     ["documents[0]='the cat' is str", "Corpus.from_texts"]),
    *((lambda token=token: list(checked_token_lists([["a"], ["b", token]])), error,
       ["documents[1][1]"]) for token, error in ((None, T), (3, T), (b"a", T), ("", V))),
    (lambda: texts(["fine", "ab\ud83d"]), V,
     ["documents[1] has a lone surrogate U+D83D at character 2", 'errors="replace"']),
    *((lambda wrong=wrong: checked_texts(wrong), T, [word]) for wrong, word in (
        ({"a", "b"}, "no order"), ({"a": 1}, "dict"), (np.array([["a"]]), "2-D"), (5, "int"))),
    # V01, V05, V06, V07: arrays
    (lambda: check_array("x", ROWS), V, ["x[1] holds NaN or infinity (2 of 4 rows do)"]),
    (lambda: check_array("x", np.ones((4, 5)), columns=4), V,
     ["x has shape (4, 5); expected 4 columns"]),
    (lambda: check_array("x", np.ones((2, 3, 5)), ndim=3, columns=3), V, ["expected 3 columns"]),
    (lambda: check_array("x", np.ones((1, 2)), min_rows=2), V, ["x has 1 rows; expected >= 2"]),
    (lambda: check_array("x", np.ones(5)), V, ["shape (5,)", "x[None]"]),
    *((lambda wrong=wrong: check_array("x", np.array([[wrong]])), T, ["expected real numbers"])
      for wrong in ("a", None, 1j)),
]


@pytest.mark.parametrize(("call", "error", "said"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


def test_numbers_of_numpy_and_truth_values_in_arrays_are_numbers():
    assert check_int("dim", np.int32(7)) == 7 and type(check_int("dim", np.int32(7))) is int
    assert check_array("x", [[True, False]]).dtype == np.float64


def test_the_ends_of_a_range_are_in_it_unless_it_is_open():
    assert check_float("x", 0, low=0, high=1) == 0 and check_float("x", 1, low=0, high=1) == 1
    assert check_float("x", -1e300) == -1e300 and check_rounds("epochs", 1) == 1
    assert check_int("k", 3, low=3, high=3) == 3 and check_kind("path", "a", str, "") == "a"
    assert check_array("x", np.ones((2, 5, 3)), ndim=3, columns=3, min_rows=2).shape == (2, 5, 3)
    assert check_array("x", np.zeros((0, 3))).shape == (0, 3)


def test_the_same_seed_draws_the_same_numbers():
    one, two, other = (generator(seed).integers(0, 1000, 5).tolist() for seed in (3, 3, 4))
    assert one == two != other


def test_P26_the_name_used_elsewhere_is_recognised():
    assert "did you mean 'dim'?" in str(unknown_keyword("LSA", "size", ["dim", "seed"]))
    assert nearest_name("zzzzzz", ["all", "mean"]) is None


@given(st.text() | st.binary() | st.lists(st.integers()))
def test_a_shown_value_is_never_longer_than_60_characters(value):
    assert len(shown(value)) <= 60


def test_a_value_is_cut_at_60_characters_before_it_is_written_out():
    class Gigabyte(str):
        def __repr__(self):
            raise MemoryError

    assert shown("a" * 58) == "'" + "a" * 58 + "'"
    assert shown("a" * 59) == "'" + "a" * 58 + "…" == shown(Gigabyte("a" * 99))


@pytest.mark.parametrize("warn", [lambda: warn_data("few"), lambda: taken("m", 5000, 3, "3 words")])
def test_a_warning_names_the_line_that_called_the_public_function(warn):
    def helper():
        warn()

    def public():
        helper()

    def reader():
        public()

    with pytest.warns(DataWarning) as caught:
        reader()
    # the check is called by a lambda, that by a helper, and the helper by what the reader called
    assert (caught[0].filename, caught[0].lineno) == (__file__, public.__code__.co_firstlineno + 1)


def test_a_guarded_constructor_stays_itself_and_knows_its_keywords():
    def __init__(self, dim, *, seed=0):
        """Of a class."""
        self.given = dim, seed

    guarded = keyword_guard(__init__, "LSA")
    assert (guarded.__name__, guarded.__doc__) == ("__init__", "Of a class.")
    model = type("LSA", (), {"__init__": guarded})
    assert model(3, seed=1).given == (3, 1)
    with pytest.raises(TypeError, match=r"LSA .*'sed'; did you mean 'seed'\? Arguments: dim, seed"):
        model(3, sed=1)


def test_T02_T13_T21_generators_series_and_no_texts_are_read_in_order():
    assert texts(word for word in ["a", "b"]) == ["a", "b"] and texts([], allow_empty=True) == []
    assert texts(pandas.Series(["a", "b"], index=[7, 3])) == ["a", "b"]
