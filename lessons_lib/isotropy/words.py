"""Zipfian whitening: word vectors get mean 0 and covariance I over the words of a text, not over
the list of words.

A list has every word once, a text has *the* at every turn. Weighted by frequency, what frequent
words share is taken out and the directions in which they differ shrink: they become short, rare
words long, and a plain mean of them already weighs words, as SIF does by hand. Used in
``12_bert_whitening``.
"""

from __future__ import annotations

from typing import Any

from ..core.checks import shown
from ..text.frequencies import Frequencies
from ..text.string_table import Index
from ..vectors.word_vectors import GivenVectors, WordVectors
from .whitening import Whitening

__all__ = ["whiten_words"]


def whiten_words(vectors: WordVectors, counts: Any, *,
                 whitening: Whitening | None = None) -> WordVectors:
    """Whiten word vectors by how often each word occurs.

    Parameters
    ----------
    vectors : WordVectors
    counts : mapping from word to count, text.Vocabulary, text.Corpus or datasets.WordCounts
        Counts or probabilities, on any scale. A word that is not among them is whitened like the
        others, but counts neither in mean nor in covariance. None: all words count alike.
    whitening : Whitening, default Whitening(ddof=0)
        Its settings are used, and it is fitted: afterwards its ``transform`` whitens vectors of
        other words in the same way. gamma=0 only centres (and rotates).

    Returns
    -------
    WordVectors
        The same words in the same order, for a `MeanEncoder` as any other.

    Raises
    ------
    TypeError
        No word vectors, counts or whitening.
    ValueError
        Fewer than 2 of the words are counted; settings and vectors as in `Whitening.fit`.

    Warns
    -----
    DataWarning
        As `Whitening.fit`.

    Notes
    -----
    μ = Σ_w p(w) v_w, Σ = Σ_w p(w) (v_w - μ)ᵀ(v_w - μ), then as `Whitening`. With p = 1/V, the
    usual reading, rare words, which are most of a list, decide on mean and directions.
    [yokoi2024zipfian, Algorithm 1]

    Examples
    --------
    >>> vectors = WordVectors(["the", "cat", "sat"], [[4.0], [1.0], [2.0]])
    >>> whiten_words(vectors, {"the": 2, "cat": 1, "sat": 1}).matrix.round(2).ravel().tolist()
    [0.96, -1.35, -0.58]
    """
    vectors = GivenVectors().checked("vectors", vectors)
    whitening = Whitening(ddof=0) if whitening is None else whitening
    if not isinstance(whitening, Whitening):
        raise TypeError(f"whitening={shown(whitening)} is {type(whitening).__name__}; expected a "
                        "Whitening, such as Whitening(k=50, ddof=0), or None")
    shares = None
    if counts is not None:
        shares = Frequencies.of(counts).of_rows(Index(vectors.tokens), unseen=0.0)
        if (some := int((shares > 0).sum())) < 2:
            raise ValueError(f"counts has {some} of the {len(vectors):,} words of {vectors!r}; "
                             "expected two or more. Count a text that was cut and lower-cased as "
                             "that of the vectors")
    matrix = whitening.fit(vectors.matrix, shares).transform(vectors.matrix)
    by = "evenly" if counts is None else "by frequency"
    return WordVectors(vectors.tokens, matrix, name=f"{vectors.name}, {whitening.name} {by}")
