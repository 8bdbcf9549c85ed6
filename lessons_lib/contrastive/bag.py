"""A bag of words that learns: the first rung of every ladder in the lessons on contrast.

Where a BERT needs hours, a table of vectors climbs in seconds, and shows how much of a score is
contrast and how much is the network. Taught in ``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from ..contextual import ContextualEncoder
from ..contextual.bag import BagOfParts, BagReader, BagTokens
from ..core import check_float, check_int, check_kind, check_memory, generator
from ..datasets import load
from ..vectors import WordVectors

__all__ = ["trainable_bag"]

NGRAM_SCALE = 0.5         # of the random vectors of n-grams, to the mean size of a word's numbers


def trainable_bag(vectors: WordVectors | None = None, counts: Mapping[str, int] | None = None, *,
                  a: float = 1e-3, buckets: int = 32_768, min_n: int = 3, max_n: int = 4,
                  random: bool = False, seed: int = 0) -> ContextualEncoder:
    """An encoder whose vectors are the mean of word vectors and vectors of character n-grams.

    Parameters
    ----------
    vectors : WordVectors, optional
        Where the rows of words begin; None: the course's skip-gram.
    counts : mapping of word to int, optional
        How often each word occurs in a large text; None: the course's Wikipedia.
    a : float > 0, default 1e-3
        Of the SIF weights a / (a + p(w)), with which the rows begin.
    buckets : int >= 0, default 32,768
        Rows for character n-grams, which share them by a hash; they begin as random numbers. 0:
        words alone, and a word without a vector is left out.
    min_n, max_n : int, default 3 and 4
        Characters of the n-grams.
    random : bool, default False
        The control: each row of a word keeps its norm and gets a random direction.
    seed : int >= 0, default 0
        Of all that is random.

    Returns
    -------
    ContextualEncoder
        Of a model without a block; any trainer takes it.

    Raises
    ------
    TypeError, ValueError
    DataMissing
        The course's vectors or counts.

    Notes
    -----
    SIF weights: [arora2017simple]; hashed n-grams: [bojanowski2017enriching].

    Examples
    --------
    >>> import lessons_lib as ll
    >>> bag = ll.contrastive.trainable_bag(buckets=1024)
    >>> bag.encode(["a cat sleeps", "a dog sleeps"]).shape
    (2, 200)
    """
    check_float("a", a, low=0, open_low=True)
    check_int("buckets", buckets, low=0)
    check_kind("random", random, bool, "True or False")
    vectors = load("course-vectors") if vectors is None else check_kind(
        "vectors", vectors, WordVectors, "WordVectors")
    if counts is None:
        course = load("course-frequencies")
        counts = dict(zip(course.words, course.counts.tolist(), strict=True))
    tokens = BagTokens(vectors.tokens, buckets=buckets, min_n=min_n, max_n=max_n)
    share = np.array([counts.get(word, 0) for word in vectors.tokens])
    share = share / max(1, sum(counts.values()))
    rng, table = generator(seed), vectors.matrix * (a / (a + share))[:, None]
    if random:
        norms, table = np.linalg.norm(table, axis=1, keepdims=True), rng.normal(size=table.shape)
        table *= norms / np.linalg.norm(table, axis=1, keepdims=True)
    check_memory(f"{buckets:,} rows of n-grams of {vectors.dim:,} numbers",
                 12 * buckets * vectors.dim, f"Lower buckets={buckets}")
    ngrams = NGRAM_SCALE * np.abs(table).mean() * rng.normal(size=(buckets, vectors.dim))
    whole = torch.from_numpy(np.concatenate([table, ngrams]).astype(np.float32))
    return ContextualEncoder(
        BagReader(BagOfParts(whole, len(vectors.tokens)).eval()), tokens,
        name=f"bag of {'random ' if random else ''}words{' and n-grams' if buckets else ''}")
