"""Vocabulary: ids by falling count, ranks, limits, unknown words."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import UnknownWord
from lessons_lib.text import Vocabulary

COUNTS = {"the": 5, "cat": 2, "dog": 2, "bird": 1}


some_tokens = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(some_tokens, st.integers(1, 5), min_size=1))
def test_ids_follow_falling_count_then_the_token(counts):
    vocabulary = Vocabulary.from_counts(counts)
    assert vocabulary.tokens == sorted(counts, key=lambda token: (-counts[token], token))
    assert vocabulary.counts.tolist() == [counts[token] for token in vocabulary.tokens]
    for i, token in enumerate(vocabulary):
        assert (vocabulary.id(token), vocabulary.token(i)) == (i, token)
        assert (vocabulary.rank(token), vocabulary.count(token)) == (i + 1, counts[token])


def test_min_count_and_max_size_keep_the_most_frequent():
    assert Vocabulary.from_counts(COUNTS, min_count=2).tokens == ["the", "cat", "dog"]
    assert Vocabulary.from_counts(COUNTS, max_size=2).tokens == ["the", "cat"]


def test_encoding_drops_unknown_tokens_and_decoding_is_its_inverse():
    vocabulary = Vocabulary.from_counts(COUNTS)
    ids = vocabulary.encode(["the", "fish", "dog"])
    assert ids.dtype == np.int32
    assert vocabulary.decode(ids) == ["the", "dog"]
    assert "fish" not in vocabulary and vocabulary.count("fish") == 0 and vocabulary.oov == "drop"


def test_P20_an_unknown_word_is_named_with_at_most_three_near_ones():
    vocabulary = Vocabulary.from_counts(Counter(["cart", "card", "care", "cars", "dog"]))
    with pytest.raises(UnknownWord) as caught:
        vocabulary.id("cara")
    message = str(caught.value)
    assert message.startswith("'cara' is not in the vocabulary; near words: 'car")
    assert message.count("'") == 8
