"""The inverted index: for each word the texts that hold it, so that a question reads the lists of
its own words and no other text.

It is the bag of words kept by columns, with what BM25 makes of each count beside it. The scores are
those of `counts.BM25`, [robertson2009probabilistic] with Lucene's idf. Taught in ``17_search``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..core import check_int, shown
from ..core.compiled import compiled
from ..core.learned import Array
from ..core.parameters import Float
from ..counts.bag_of_words import BagOfWords

__all__ = ["InvertedIndex"]


@compiled
def _impacts(ends: np.ndarray, texts: np.ndarray, counts: np.ndarray, idf: np.ndarray,
             dampened: np.ndarray, k1: float) -> np.ndarray:
    """What each posting adds to the score of its text: idf * tf * (k1 + 1) / (tf + dampened)."""
    impacts = np.empty(texts.size, np.float64)
    for column in range(idf.size):
        for place in range(ends[column], ends[column + 1]):
            tf = counts[place]
            impacts[place] = idf[column] * tf * (k1 + 1) / (tf + dampened[texts[place]])
    return impacts


@compiled
def _score(columns: np.ndarray, amounts: np.ndarray, ends: np.ndarray, texts: np.ndarray,
           impacts: np.ndarray, scores: np.ndarray) -> None:
    """Scores of all texts for one question, given as columns and how often each stands there."""
    scores[:] = 0
    for i in range(columns.size):
        amount = np.float64(amounts[i])
        for place in range(ends[columns[i]], ends[columns[i] + 1]):
            scores[np.uint32(texts[place])] += amount * impacts[place]     # never from the end


@compiled
def _best(scores: np.ndarray, best: np.ndarray, rows: np.ndarray) -> int:
    """Puts the highest scores above 0 into ``best``, falling, and their rows beside them; how many
    there are. Of equals the lower row comes first.
    """
    n, k, least = 0, best.size, 0.0
    for row in range(scores.size):
        score = scores[row]
        if score > least:
            place = n if n < k else k - 1
            n = min(n + 1, k)
            while place > 0 and best[place - 1] < score:
                best[place], rows[place] = best[place - 1], rows[place - 1]
                place -= 1
            best[place], rows[place] = score, row
            if n == k:
                least = best[k - 1]
    return n


@compiled
def _search(queries: np.ndarray, columns: np.ndarray, amounts: np.ndarray, ends: np.ndarray,
            texts: np.ndarray, impacts: np.ndarray, scores: np.ndarray, best: np.ndarray,
            rows: np.ndarray) -> np.ndarray:
    """`_score` and `_best` for each question, given as the rows of a sparse matrix."""
    n = np.empty(len(best), np.int64)
    for i in range(len(best)):
        own = slice(queries[i], queries[i + 1])
        _score(columns[own], amounts[own], ends, texts, impacts, scores)
        n[i] = _best(scores, best[i], rows[i])
    return n


class InvertedIndex(BagOfWords):
    r"""Texts by their words, ranked by BM25 without looking at texts that share no word.

    Notes
    -----
    ::

        score(q, d) = Σ_t in q  idf(t) tf (k1 + 1) / (tf + k1 (1 - b + b |d| / mean |d|))
        idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))

    A word of the question counts as often as it stands there. [robertson2009probabilistic]

    Examples
    --------
    >>> index = InvertedIndex().fit(["the cat sat", "the dog sat", "a bird"])
    >>> [text for text, score in index.search("a dog sat")]
    [1, 0]
    """

    k1 = Float(1.5, "how soon further occurrences stop counting; 0: presence only", low=0)
    b = Float(0.75, "how far length counts", low=0, high=1)
    binary = False                               # no setting here

    lengths_ = Array("texts", dtype="int64", doc="known words of each text", file="lengths")
    ends_ = Array("columns + 1", dtype="int64", doc="where the list of each word ends",
                  file="posting_ends")
    texts_ = Array("postings", dtype="int32", doc="the lists, one after the other: texts, rising",
                   file="posting_texts")
    counts_ = Array("postings", dtype="int32", doc="how often the word stands in the text",
                    file="posting_counts")

    name = "inverted index"
    _needs_texts = True

    def _learn(self, documents: Iterable[str],
               keep_rows: bool) -> tuple[dict[str, Any], sparse.csr_matrix | None]:
        """The bag of words by columns."""
        learned, counts = super()._learn(documents, keep_rows=True)
        columns = counts.tocsc()
        learned |= {"lengths_": np.asarray(counts.sum(axis=1)).ravel(),
                    "ends_": columns.indptr.astype(np.int64),
                    "texts_": columns.indices.astype(np.int32),
                    "counts_": columns.data.astype(np.int32)}
        return learned | self._weights(learned), counts if keep_rows else None

    def _weights(self, learned: Mapping[str, Any]) -> dict[str, Any]:
        """What follows from the lists: words by column, and the impact of each posting."""
        ends, lengths = learned["ends_"], learned["lengths_"]
        in_texts, n = np.diff(ends), len(lengths)
        idf = np.log1p((n - in_texts + 0.5) / (in_texts + 0.5))
        k1, b = (float(learned["_fitted"][name]) for name in ("k1", "b"))
        dampened = k1 * (1 - b + b * lengths / (lengths.mean() or 1.0))
        words = sorted(learned["vocabulary_"], key=learned["vocabulary_"].__getitem__)
        impacts = _impacts(ends, learned["texts_"], learned["counts_"], idf, dampened, k1)
        return {"_words": words, "_impacts": impacts}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        super()._after_load(arrays, extra)
        ends, texts = self.ends_, self.texts_
        if ends[0] != 0 or ends[-1] != len(texts) or (np.diff(ends) < 0).any():
            raise ValueError(f"array 'posting_ends' does not rise from 0 to {len(texts)} postings")
        if len(ends) != len(self.vocabulary_) + 1:
            raise ValueError(f"array 'posting_ends' has {len(ends)} numbers for "
                             f"{len(self.vocabulary_)} words")
        if len(texts) and not 0 <= texts.min() <= texts.max() < len(self.lengths_):
            raise ValueError(f"array 'posting_texts' holds {texts.min()} to {texts.max()}; "
                             f"expected texts in [0, {len(self.lengths_) - 1}]")
        vars(self).update(self._weights(vars(self)))

    def __len__(self) -> int:
        self._check_fitted("ends_")
        return len(self.lengths_)

    def scores(self, queries: Iterable[str]) -> np.ndarray:
        """Score of every text for every question.

        Parameters
        ----------
        queries : iterable of str
            Not one str.

        Returns
        -------
        (n_queries, n_texts) float64

        Raises
        ------
        NotFittedError, TypeError
            As `transform`.
        """
        self._check_fitted("ends_")
        rows = self._counts_of(queries)
        scores = np.empty((rows.shape[0], len(self)))
        for i, (columns, amounts) in enumerate(_rows(rows)):
            _score(columns, amounts, self.ends_, self.texts_, self._impacts, scores[i])
        return scores

    def search(self, query: str, *, k: int = 10) -> list[tuple[int, float]]:
        """The k texts that score best for one question, best first.

        Parameters
        ----------
        query : str
        k : int >= 1, default 10

        Returns
        -------
        list of (index, score)
            Only texts with a word of the question, so fewer than k where few have one; of equals
            the first.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; query is not one str; k below 1.

        Warns
        -----
        DataWarning
            No word of the question is known; the list is empty.
        """
        if not isinstance(query, str):
            raise TypeError(f"query={shown(query)} is {type(query).__name__}; expected one str. "
                            "For many questions use search_each")
        return self.search_each([query], k=k)[0]

    def search_each(self, queries: Iterable[str], *, k: int = 10) -> list[list[tuple[int, float]]]:
        """`search` for many questions.

        Parameters
        ----------
        queries : iterable of str
        k : int >= 1, default 10

        Returns
        -------
        list of list of (index, score)
            One list for each question.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `search`.
        """
        k, asked = min(check_int("k", k), len(self)), self._counts_of(queries)
        best, rows = np.empty((asked.shape[0], k)), np.empty((asked.shape[0], k), np.int64)
        n = _search(asked.indptr, asked.indices, asked.data, self.ends_, self.texts_, self._impacts,
                    np.empty(len(self)), best, rows)
        return [list(zip(r[:i], b[:i], strict=True))
                for r, b, i in zip(rows.tolist(), best.tolist(), n.tolist(), strict=True)]

    def why(self, query: str, text: int) -> dict[str, float]:
        """What each word of a question adds to the score of one text, the most first.

        Parameters
        ----------
        query : str
        text : int
            Number of a fitted text.

        Returns
        -------
        dict of str to float
            Words that the text holds; the values add up to its score.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; no text of that number.
        """
        check_int("text", text, low=0, high=len(self) - 1)
        (columns, amounts), = _rows(self._counts_of([query]))
        parts = {}
        for column, amount in zip(columns, amounts, strict=True):
            first, last = self.ends_[column : column + 2]
            # as a number of the same type: else the whole list would be copied
            place = first + np.searchsorted(self.texts_[first:last], np.int32(text))
            if place < last and self.texts_[place] == text:
                parts[self._words[column]] = float(amount * self._impacts[place])
        return dict(sorted(parts.items(), key=lambda part: -part[1]))


def _rows(matrix: sparse.csr_matrix) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Columns and counts of each row of a sparse matrix."""
    ends = matrix.indptr
    for i in range(matrix.shape[0]):
        part = slice(ends[i], ends[i + 1])
        yield matrix.indices[part], matrix.data[part]
