"""Argument checks: every message names argument, value, what is allowed and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import (check_array, check_choice, check_float, check_int, check_seed,
                              checked_texts, checked_token_lists, generator, nearest_name, shown,
                              unknown_keyword)


def texts(documents, **options):
    return list(checked_texts(documents, **options))


@pytest.mark.parametrize("value", [0, -1])
def test_P01_an_int_out_of_range_names_argument_value_and_range(value):
    with pytest.raises(ValueError, match=rf"dim={value} is out of range; expected int >= 1"):
        check_int("dim", value)


@pytest.mark.parametrize("value", [1.5, "8", True, None, 2.0, np.bool_(True)])
def test_P01_what_is_no_int_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"dim=.* is \w+; expected int >= 1"):
        check_int("dim", value)


def test_numpy_integers_are_integers():
    assert check_int("dim", np.int32(7)) == 7 and type(check_int("dim", np.int32(7))) is int


@pytest.mark.parametrize("value", [math.nan, math.inf, 0, -1, 10**400])
def test_P04_a_rate_must_be_positive_and_finite(value):
    with pytest.raises(ValueError, match=r"learning_rate=.* expected a finite number > 0"):
        check_float("learning_rate", value, low=0, open_low=True)


@pytest.mark.parametrize("value", [-1, 1.5, None, "0"])
def test_P24_a_seed_is_an_int_from_zero(value):
    with pytest.raises((ValueError, TypeError), match="seed=.*int >= 0"):
        check_seed(value)


def test_the_same_seed_draws_the_same_numbers():
    assert generator(3).integers(0, 1000, 5).tolist() == generator(3).integers(0, 1000, 5).tolist()
    assert generator(3).integers(0, 1000, 5).tolist() != generator(4).integers(0, 1000, 5).tolist()


def test_P27_an_unknown_name_gets_the_nearest_and_all_allowed():
    with pytest.raises(
            ValueError,
            match=r"protocol='al' is unknown. Did you mean 'all'\? Allowed: 'all', 'mean'"):
        check_choice("protocol", "al", ["all", "mean"])
    assert nearest_name("zzzzzz", ["all", "mean"]) is None


def test_P26_the_name_used_elsewhere_is_recognised():
    assert "did you mean 'dim'?" in str(unknown_keyword("LSA", "size", ["dim", "seed"]))


@given(st.text() | st.binary() | st.lists(st.integers()))
def test_a_shown_value_is_never_longer_than_60_characters(value):
    assert len(shown(value)) <= 60


def test_T01_one_string_is_not_a_list_of_documents():
    with pytest.raises(
            TypeError, match=
            r"documents='a string' is one str; expected a sequence of str. Pass a list: \[text\]"):
        checked_texts("a string")


@pytest.mark.parametrize("documents", [[], iter([])])
def test_T02_no_documents(documents):
    with pytest.raises(ValueError, match="documents holds 0 documents"):
        texts(documents)
    assert texts([], allow_empty=True) == []


@pytest.mark.parametrize(("item", "word"), [(None, "NoneType"), (5, "int"), (1.5, "float"),
                                            (True, "bool")])
def test_T05_T07_an_item_of_another_kind_is_named_with_its_index(item, word):
    with pytest.raises(TypeError, match=rf"documents\[1\]=.* is {word}; expected str"):
        texts(["a", item])


def test_T06_a_missing_cell_is_called_a_missing_value():
    with pytest.raises(TypeError, match=r"documents\[2\] is nan \(a missing value\?\).*Drop it"):
        texts(["a", "b", float("nan")])


def test_T08_bytes_get_the_decode_remedy():
    with pytest.raises(TypeError, match=r'documents\[0\] is bytes.*decode\("utf-8"\)'):
        texts([b"abc"])


def test_T09_token_lists_where_texts_are_expected():
    with pytest.raises(TypeError, match=r"documents\[0\].*Corpus.from_tokens"):
        texts([["the", "cat"]])


def test_T10_texts_where_token_lists_are_expected():
    with pytest.raises(TypeError, match=r"documents\[0\]='the cat' is str.*Corpus.from_texts"):
        list(checked_token_lists(["the cat", "a dog"]))


@pytest.mark.parametrize(("token", "error"), [(None, TypeError), (3, TypeError), (b"a", TypeError),
                                              ("", ValueError)])
def test_T11_a_token_that_is_none_names_document_and_token(token, error):
    with pytest.raises(error, match=r"documents\[1\]\[1\]"):
        list(checked_token_lists([["a"], ["b", token]]))


def test_T14_a_lone_surrogate_names_document_and_character():
    with pytest.raises(
            ValueError,
            match=r'documents\[1\] has a lone surrogate U\+D83D at character 2.*errors="replace"'):
        texts(["fine", "ab\ud83d"])


@pytest.mark.parametrize(("documents", "word"), [({"a", "b"}, "no order"), ({"a": 1}, "dict"),
                                                 (np.array([["a"]]), "2-D"), (5, "int")])
def test_T20_containers_without_an_order_or_with_two_axes(documents, word):
    with pytest.raises(TypeError, match=word):
        checked_texts(documents)


def test_T21_a_series_is_read_by_position():
    assert texts(pandas.Series(["a", "b"], index=[7, 3])) == ["a", "b"]


def test_T13_a_generator_is_read_once():
    assert texts(word for word in ["a", "b"]) == ["a", "b"]


def test_V01_the_first_bad_row_and_their_number_are_named():
    x = np.ones((4, 2))
    x[1, 0], x[3, 1] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"x\[1\] holds NaN or infinity \(2 of 4 rows do\)"):
        check_array("x", x)


def test_V05_V06_V07_shape_and_type_of_an_array():
    with pytest.raises(ValueError, match=r"x has shape \(4, 5\); expected 4 columns"):
        check_array("x", np.ones((4, 5)), columns=4)
    with pytest.raises(ValueError, match=r"shape \(5,\).*x\[None\]"):
        check_array("x", np.ones(5))
    for wrong in (np.array([["a"]]), np.array([[None]]), np.array([[1j]])):
        with pytest.raises(TypeError, match="expected real numbers"):
            check_array("x", wrong)
    assert check_array("x", [[True, False]]).dtype == np.float64
