"""fastText: a word is the mean of its parts, so a word that no text held still has a vector.

The rows of a word and of its n-grams together predict the words around it, as in word2vec; what is
learned goes to all of them. The steps are compiled vector code (`kernels.subword_update`). Taught
in lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import generator, taken
from ..core.learned import Array, Learned, Strings
from ..core.parameters import Float, Int, Rate
from ..text.subwords import check_parts, ngram_buckets
from ..vectors import WordVectors
from .encoded_corpus import EncodedCorpus
from .window_method import WindowMethod, random_rows

__all__ = ["FastText"]


class FastText(WindowMethod):
    """Word vectors made of the parts of words, by skip-gram or CBOW.

    The vector of a word is the mean of its own row and the rows of its n-grams, as in the program
    fastText (its paper takes the sum). The row of an n-gram is that of its bucket; only buckets
    that n-grams of the vocabulary fall into have one: memory grows with the words, not with
    ``buckets``. One thread is bitwise reproducible. [bojanowski2017enriching]

    Examples
    --------
    >>> model = FastText(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vector("roses").shape
    (4,)
    """

    name = "fasttext"

    min_n = Int(3, "characters of the shortest n-gram", low=0)
    max_n = Int(6, "characters of the longest n-gram, 0: words without parts", low=0)
    buckets = Int(2_000_000, "for n-grams, which collide as in fastText", high=2**32 - 1)
    sample = Float(1e-4, "threshold of subsampling, 0 for none", low=0)
    noise_exponent = Float(0.5, "power of the counts in the distribution of negative samples")
    learning_rate = Rate(0.05, "at the beginning; it falls to 0 along a straight line")

    vectors_ = Learned("WordVectors", "the composed vectors of the vocabulary")
    _tokens = Strings()
    word_rows_ = Array("tokens", "dim", file="word_rows")
    ngram_rows_ = Array("ngrams", "dim", file="ngram_rows")
    buckets_ = Array("ngrams", dtype="int64", file="buckets", doc="of each row of n-grams")

    @property
    def _parts(self) -> tuple[int, int, int]:
        return self.min_n, self.max_n, self.buckets

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        super()._check_together(settings)
        check_parts(*self._parts)

    def _check_consistent(self) -> None:
        words, columns, rows = len(self.vectors_), self.vectors_.dim, len(self.output_)
        if (self.dim, self._parts) != (columns, self._parts_of_fit) or rows != words - self._tree:
            raise ValueError(f"dim={self.dim}, objective={self.objective!r}, (min_n, max_n, "
                             f"buckets)={self._parts} differ from those of the fit ({columns} "
                             f"columns, {rows} output rows for {words} words, "
                             f"{self._parts_of_fit}); fit anew")

    # ------------------------------------------------------------------------------ learning

    def _begin(self, encoded: EncodedCorpus) -> None:
        nothing = np.empty((0, self.dim), dtype=np.float32)
        self._own(np.empty(0, dtype=np.int64), nothing, nothing, nothing)
        self._extend(encoded)

    def _extend(self, encoded: EncodedCorpus) -> None:
        """Rows for new words and buckets; buckets that the text meets most often lie together."""
        self._tokens = encoded.tokens
        longest = max(map(len, encoded.tokens)) + 2                # with < and >
        taken("max_n", self.max_n, longest, f"the longest word has {longest - 2:,} characters",
              stacklevel=5)
        bounds, buckets = ngram_buckets(encoded.tokens, min_n=self.min_n, max_n=self.max_n,
                                        buckets=self.buckets)
        new = self._rows_of(buckets) < 0
        occurrences = np.repeat(encoded.counts, np.diff(bounds))[new]
        fresh, which = np.unique(buckets[new], return_inverse=True)
        often = np.bincount(which, weights=occurrences, minlength=len(fresh))
        fresh = fresh[np.argsort(-often, kind="stable")]
        former, n = len(self.word_rows_), len(encoded.tokens)
        self._check_memory(encoded, len(self.buckets_) + len(fresh))
        rng = generator(int(self.seed) + former)
        words, ngrams = (random_rows(rng, more, self.dim, reach=1.0)
                         for more in (n - former, len(fresh)))
        zeros = np.zeros((n - self._tree - len(self.output_), self.dim), dtype=np.float32)
        self._own(np.concatenate([self.buckets_, fresh]), np.concatenate([self.word_rows_, words]),
                  np.concatenate([self.ngram_rows_, ngrams]), np.concatenate([self.output_, zeros]))

    def _own(self, buckets: np.ndarray, word_rows: np.ndarray, ngram_rows: np.ndarray,
             output: np.ndarray) -> None:
        """Keep what was learned; ``_sorted`` finds the row of a bucket."""
        self.buckets_, self.output_ = buckets, output
        self.word_rows_, self.ngram_rows_ = word_rows, ngram_rows
        order = np.argsort(buckets)
        self._sorted, self._parts_of_fit = (buckets[order], order), self._parts

    def _state(self, encoded: EncodedCorpus) -> Any:
        from ..kernels import SubwordState

        bounds, lists = self._rows_of_words()
        rows = np.concatenate([self.word_rows_, self.ngram_rows_])
        return SubwordState(encoded.words, encoded.offsets, rows, self.output_, self.counts_,
                            sample=self.sample, noise_exponent=self.noise_exponent,
                            rows=lists, row_offsets=bounds)

    def _update(self) -> Callable[..., tuple[float, int]]:
        from ..kernels import subword_update

        return subword_update

    def _hand_over(self, state: Any, encoded: EncodedCorpus) -> None:
        rows, n = state.inputs[:, : self.dim].numpy(), len(encoded.tokens)
        self._own(self.buckets_, rows[:n].copy(), rows[n:].copy(),
                  state.outputs[:, : self.dim].numpy().copy())
        self._compose()

    # ------------------------------------------------------------------------------ words and rows

    def _rows_of(self, buckets: np.ndarray) -> np.ndarray:
        """The row of ``ngram_rows_`` of each bucket, -1 where no word of the vocabulary has it."""
        known, order = self._sorted
        if len(order) == 0:
            return np.full(len(buckets), -1)
        at = np.minimum(np.searchsorted(known, buckets), len(order) - 1)
        return np.where(known[at] == buckets, order[at], -1)

    def _rows_of_words(self) -> tuple[np.ndarray, np.ndarray]:
        """For each word its rows, among those of words and n-grams together: bounds and rows."""
        n = len(self._tokens)
        bounds, buckets = ngram_buckets(self._tokens, min_n=self.min_n, max_n=self.max_n,
                                        buckets=self.buckets)
        of_parts = self._rows_of(buckets)
        if (of_parts < 0).any():
            raise ValueError("buckets do not fit the words")
        return bounds + np.arange(n + 1), np.insert(of_parts + n, bounds[:-1], np.arange(n))

    def _compose(self) -> None:
        """Set ``vectors_`` to the means of the rows of words."""
        rows = np.concatenate([self.word_rows_, self.ngram_rows_])
        means = _means(rows, *self._rows_of_words())
        self.vectors_ = WordVectors(self._tokens, means, name=self.name)

    def vectors_for(self, words: Sequence[str]) -> np.ndarray:
        """The vectors of words, of which any may be unseen.

        A word outside of the vocabulary is the mean of the rows of its n-grams; those in whose
        bucket nothing has been learned are left out.

        Parameters
        ----------
        words : sequence of str

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        TypeError, NotFittedError
        UnknownWord
            Names all words without any such n-gram.
        """
        self._check_fitted("vectors_")
        words = [words] if isinstance(words, str) else list(words)
        low, high, n_buckets = self._parts_of_fit
        bounds, buckets = ngram_buckets(words, min_n=low, max_n=high, buckets=n_buckets)
        rows = self._rows_of(buckets)
        known = np.concatenate([[0], np.cumsum(rows >= 0)])[bounds]
        missing = [word for word, n in zip(words, np.diff(known), strict=True)
                   if n == 0 and word not in self.vectors_]
        if missing:
            self.vectors_.ids(missing)              # raises, with words that look like it
        vectors = _means(self.ngram_rows_, known, rows[rows >= 0])
        for i, word in enumerate(words):
            if word in self.vectors_:
                vectors[i] = self.vectors_[word]
        return vectors

    def vector(self, word: str) -> np.ndarray:
        """The vector of a word, seen or not.

        Parameters
        ----------
        word : str

        Returns
        -------
        (dim,) float32

        Raises
        ------
        TypeError, NotFittedError, UnknownWord
            As `vectors_for`.
        """
        return self.vectors_for([word])[0]

    def nearest(self, word: str, *, topn: int = 10) -> list[tuple[str, float]]:
        """The words of the vocabulary with the highest cosine to a word, seen or not.

        Parameters
        ----------
        word : str
        topn : int, default 10

        Returns
        -------
        list of (word, cosine)

        Raises
        ------
        TypeError, NotFittedError, UnknownWord
            As `vectors_for`.
        """
        self._check_fitted("vectors_")
        query = word if word in self.vectors_ else self.vector(word)
        return self.vectors_.most_similar(query, topn=topn)

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self._own(self.buckets_, self.word_rows_, self.ngram_rows_, self.output_)
        if (np.diff(self._sorted[0]) == 0).any():
            raise ValueError("buckets holds one twice")
        self._compose()


def _means(rows: np.ndarray, bounds: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Means of lists of rows, zero for an empty list: (n, dim) float32."""
    import torch

    of = torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64))
    begins = torch.from_numpy(np.ascontiguousarray(bounds[:-1]))
    means = torch.nn.functional.embedding_bag(of, torch.from_numpy(rows), begins, mode="mean")
    return means.numpy()
