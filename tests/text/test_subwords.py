"""Parts of words: published hashes and n-grams, gensim's list for any text, and characters of
several bytes.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.subwords import fnv1a, ngram_buckets, ngrams

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LENGTHS = st.tuples(st.integers(1, 7), st.integers(0, 6)).map(lambda x: (x[0], x[0] + x[1]))
MILLIONS = 2_000_000


@pytest.mark.parametrize(("text", "value"), [("a", 3826002220), ("foobar", 3214735720),
                                             ("<he", 1133188580), ("the", 3020861980),
                                             ("é", 1023043777), ("你", 3745517534),
                                             ("", 2166136261)])
def test_the_hash_is_that_of_fasttext_also_beyond_ascii(text, value):
    assert fnv1a(text) == fnv1a(text.encode()) == value


def test_bytes_count_with_their_sign_which_ascii_does_not_show():
    assert fnv1a("é") != 513665217 and fnv1a("你") != 525115102                  # of unsigned bytes


def test_the_n_grams_of_the_examples():
    where = "<wh <whe <wher <where whe wher where where> her here here> ere ere> re>"
    assert ngrams("where") == where.split() and ngrams("is") == [
        "<is", "<is>", "is>"
    ] and ngrams("a") == ["<a>"] and ngrams("") == []
    assert ngrams("ab", min_n=1, max_n=2) == ["<a", "a", "ab", "b", "b>"] and ngrams(
        "where", max_n=0) == []
    assert ngrams("banana", min_n=5, max_n=5) == ["<bana", "banan", "anana", "nana>"] and ngrams(
        "banana", min_n=3, max_n=3).count("ana") == 2
    assert ngrams("日本", min_n=2, max_n=3) == ["<日", "<日本", "日本", "日本>", "本>"]


@given(words=st.lists(WORDS, max_size=4), lengths=LENGTHS,
       buckets=st.sampled_from([1, 7, MILLIONS, 2**32 - 1]))
def test_buckets_are_the_hashes_of_the_n_grams_in_order(words, lengths, buckets):
    low, high = lengths
    bounds, numbers = ngram_buckets(words, min_n=low, max_n=high, buckets=buckets)
    assert bounds.tolist() == [
        0, *itertools.accumulate(len(ngrams(word, min_n=low, max_n=high)) for word in words)
    ]
    assert numbers.tolist() == [
        fnv1a(part) % buckets for word in words for part in ngrams(word, min_n=low, max_n=high)
    ]


@given(word=WORDS, lengths=LENGTHS)
def test_gensim_finds_the_same_parts_and_buckets(word, lengths):
    inner = pytest.importorskip("gensim.models.fasttext_inner")
    parts = inner.compute_ngrams_bytes(word, *lengths)
    assert [part.encode() for part in ngrams(word, min_n=lengths[0], max_n=lengths[1])] == parts
    found = ngram_buckets([word], min_n=lengths[0], max_n=lengths[1])[1].tolist()
    assert found == [inner.ft_hash_bytes(part) % MILLIONS
                     for part in parts] and all(0 <= x < MILLIONS for x in found)


def test_no_words_and_no_parts_are_empty_arrays():
    for found in (ngram_buckets([]), ngram_buckets(["word"], max_n=0)):
        assert found[1].size == 0 and found[1].dtype == np.int64 and found[0].tolist() == [0] * len(
            found[0])
