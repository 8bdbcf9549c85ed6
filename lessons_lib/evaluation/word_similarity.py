"""Word similarity: Spearman between the cosines of word pairs and the grades that people gave them.

Pairs with a word that has no vector are left out, and the result says how many were covered,
because a score on few pairs is no score. Taught in ``04_word2vec`` and, for counted vectors, in
``02_bag_of_words``.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import check_seed, shown
from .bootstrap import checked_resamples, in_brackets, spearman_interval
from .geometry import pair_cosines
from .ranks import checked_values, pearson, spearman
from .word_table import WordTable

__all__ = ["WordSimilarityResult", "loaded_pairs", "word_similarity"]


@dataclass(frozen=True, repr=False)
class WordSimilarityResult:
    """Agreement with human grades over the covered pairs; correlations are printed x 100.

    Attributes
    ----------
    name : str
    spearman, pearson : float in [-1, 1]
    interval : (low, high) or None
        95 % bootstrap interval of ``spearman``; None when switched off.
    coverage : float
        Share of the pairs that are covered.
    n_pairs : int
        Covered pairs.
    missing : tuple of str
        The words without vector.
    """

    name: str
    spearman: float
    pearson: float
    interval: tuple[float, float] | None
    coverage: float
    n_pairs: int
    missing: tuple[str, ...]

    def __repr__(self) -> str:
        return (f"WordSimilarityResult({self.name}: Spearman {100 * self.spearman:.1f}"
                f"{in_brackets(self.interval)}, Pearson {100 * self.pearson:.1f} (x 100), "
                f"{self.n_pairs:,} pairs = {self.coverage:.0%} covered)")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def word_similarity(vectors: Any, dataset: Any, *, bootstrap: int = 1000,
                    seed: int = 0) -> WordSimilarityResult:
    """Score word vectors on a set of graded word pairs.

    Parameters
    ----------
    vectors : dict of word to vector, (words, matrix), or object with both (gensim's too)
    dataset : str such as "wordsim353", or object with ``word1``, ``word2``, ``score``
        A word is looked up as written, then in lower case.
    bootstrap : int >= 0, default 1000
        Resamples of the interval; 0: none.
    seed : int, default 0

    Returns
    -------
    WordSimilarityResult
        A zero vector has cosine 0.

    Raises
    ------
    UnknownWord
        No pair is covered.
    TypeError, ValueError
        Other data; what is covered has no correlation.
    DataMissing
    """
    table = WordTable(vectors)
    checked_resamples("bootstrap", bootstrap, low=0)
    check_seed(seed)
    name, pairs = loaded_pairs(dataset)
    gold = checked_values(f"{name}.score", pairs.score)
    first, second = list(pairs.word1), list(pairs.word2)
    if not len(first) == len(second) == len(gold):
        raise ValueError(f"{name} has {len(first)}, {len(second)} and {len(gold)} values in word1, "
                         "word2 and score; expected one of each per pair")
    if not len(gold):
        raise ValueError(f"{name} holds 0 pairs; expected >= 2")
    rows, missing = table.rows([first, second])
    known = (rows >= 0).all(axis=1)
    # only these rows are scaled and compared
    used, place = np.unique(rows[known], return_inverse=True)
    left, right = place.reshape(-1, 2).T
    cosines = np.round(pair_cosines(table.matrix[used], left, right), 12)
    gold = gold[known]
    return WordSimilarityResult(
        name, spearman(cosines, gold), pearson(cosines, gold),
        spearman_interval(cosines, gold, n_resamples=bootstrap, seed=seed) if bootstrap else None,
        float(known.mean()), len(gold), tuple(missing))


def loaded_pairs(dataset: Any) -> tuple[str, Any]:
    """Graded word pairs and their name, from a name or a record; TypeError for other data."""
    if isinstance(dataset, str):
        from .. import datasets

        dataset, name = datasets.load(dataset), dataset
    else:
        name = str(getattr(dataset, "name", type(dataset).__name__))
    absent = [column for column in ("word1", "word2", "score") if not hasattr(dataset, column)]
    if absent:
        raise TypeError(f"dataset={shown(name)} is {type(dataset).__name__} without "
                        f"{', '.join(absent)}; expected graded word pairs")
    return name, dataset
