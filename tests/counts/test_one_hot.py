"""One-hot vectors: distances, sums, unknown words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.counts import BagOfWords, OneHot

words = st.lists(st.sampled_from(["the", "cat", "dog", "naïve", "我爱"]), min_size=1, max_size=8)


def test_any_two_words_are_the_square_root_of_two_apart():
    one_hot = OneHot().fit(["the cat sat on naïve 我爱 mats"])
    vectors = one_hot.vectors(list(one_hot.vocabulary_)).toarray()
    assert np.array_equal(vectors, np.eye(one_hot.dim))
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    assert np.allclose(distances, np.sqrt(2) * (1 - np.eye(one_hot.dim)))


@given(st.lists(words, min_size=1, max_size=4), st.integers(0, 2**31))
def test_the_one_hots_of_a_text_add_up_to_its_bag_of_words(documents, seed):
    joined = [" ".join(tokens) for tokens in documents]
    one_hot, bag = OneHot().fit(joined), BagOfWords().fit(joined)
    embedding = np.random.default_rng(seed).normal(size=(bag.dim, 3))
    for tokens, counts in zip(documents, bag.transform(joined).toarray(), strict=True):
        assert np.array_equal(one_hot.vectors(tokens).toarray().sum(axis=0), counts)
        rows = [embedding[bag.vocabulary_[token]] for token in tokens]
        assert np.allclose(counts @ embedding, np.sum(rows, axis=0))


def test_a_text_has_a_one_for_each_word_it_contains():
    one_hot = OneHot()
    matrix = one_hot.fit_transform(["the cat the cat", "dog"])
    assert matrix.toarray().tolist() == [[1, 0, 1], [0, 1, 0]] and matrix.dtype == np.int64
    assert np.array_equal(one_hot.encode(["the the"]), [[0, 0, 1]])


def test_no_tokens_give_no_rows():
    assert OneHot().fit(["the cat"]).vectors([]).shape == (0, 2)
