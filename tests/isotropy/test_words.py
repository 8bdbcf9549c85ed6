"""Word vectors whitened by frequency: even over the tokens of a text, whoever counted them."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.datasets import WordCounts
from lessons_lib.isotropy import Whitening, whiten_words
from lessons_lib.text import Corpus, Vocabulary
from lessons_lib.vectors import WordVectors

WORDS = [f"w{i}" for i in range(40)]
COUNTS = (1000 // np.arange(1, 41)).tolist()


@pytest.fixture
def vectors() -> WordVectors:
    """Frequent words lie together, far from the origin, as GloVe's do."""
    rng = np.random.default_rng(0)
    common = np.log(COUNTS)[:, None] * rng.normal(size=6)
    return WordVectors(WORDS, common + rng.normal(size=(40, 6)), name="made up")


def test_the_tokens_of_a_text_leave_with_mean_0_and_covariance_1(vectors):
    text = np.random.default_rng(1).permutation(np.repeat(WORDS, COUNTS)).tolist()
    corpus = Corpus.from_texts([" ".join(text)])
    white = whiten_words(vectors, corpus)
    tokens = np.array([white[word] for word in text], dtype=np.float64)
    assert np.abs(tokens.mean(axis=0)).max() < 1e-5
    assert np.abs(tokens.T @ tokens / len(tokens) - np.eye(6)).max() < 1e-5
    assert white.tokens == WORDS and white.name == "made up, whitening by frequency"
    norms = np.linalg.norm(white.matrix, axis=1)
    assert norms[:3].max() < norms[30:].min()     # so that a plain mean weighs them


@pytest.mark.parametrize("counts", [
    dict(zip(WORDS, COUNTS, strict=True)), Vocabulary(WORDS, COUNTS),
    WordCounts(WORDS, np.array(COUNTS)), dict(zip(WORDS, np.array(COUNTS) / 1e7, strict=True)),
    dict(zip(WORDS[::-1], COUNTS[::-1], strict=True)) | {"of no vector": 5000}])
def test_whoever_counted_on_whatever_scale_the_vectors_are_the_same(vectors, counts):
    expected = Whitening(ddof=0).fit(vectors.matrix, COUNTS).transform(vectors.matrix)
    assert np.abs(whiten_words(vectors, counts).matrix - expected).max() < 1e-5


def test_without_counts_it_is_plain_whitening_with_the_settings_that_are_given(vectors):
    plain = Whitening(4, "zca", gamma=0.5)
    white = whiten_words(vectors, None, whitening=plain)
    assert np.array_equal(white.matrix, Whitening(**plain.get_params()).fit(
        vectors.matrix).transform(vectors.matrix))
    assert white.name == "made up, whitening zca 4 γ=0.5 evenly"


def test_a_word_that_is_not_counted_is_whitened_like_others_and_changes_none_of_them(vectors):
    counts, whitening = dict(zip(WORDS, COUNTS, strict=True)), Whitening(ddof=0)
    expected = whiten_words(vectors, counts).matrix
    more = WordVectors([*WORDS, "new"], np.vstack([vectors.matrix, np.full(6, 9.0)]))
    white = whiten_words(more, counts, whitening=whitening)
    assert np.abs(white.matrix[:40] - expected).max() < 1e-5
    alone = whitening.transform(np.full((1, 6), 9.0, np.float32))[0]
    assert np.abs(white["new"] - alone).max() < 1e-5    # one row rounds otherwise
