"""One-hot: each word its own axis. The least a vector can know: whether two words are the same.

Every pair of different words is sqrt(2) apart and has cosine 0. The sum of a text's one-hots is its
bag of words; here a text's vector has 1 for each word it contains. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import sparse

from ..core import Estimator
from ..core.checks import shown
from ..text.vocabulary import unknown_word
from .bag_of_words import BagOfWords
from .encoding import dense_vectors, load_counts, loaded_bag, save_counts
from .settings import TOKEN_PATTERN

__all__ = ["OneHot"]


class OneHot(Estimator):
    """One axis per token. `vectors` gives the one-hot vectors of tokens, `transform` which tokens
    each text contains.

    Parameters
        lowercase, token_pattern, min_df, max_df, max_features, stop_words, vocabulary, normalise,
        threads: as in `BagOfWords`, with the same defaults, so that with equal settings the
        one-hots of a text's tokens add up to its bag of words.
    Attributes
        vocabulary_: dict token -> column, alphabetical.
    Notes
        `transform` takes texts, not tokens: row i is the sum of the one-hots of text i, cut to 1.
        For tokens use `vectors`.

    >>> one_hot = OneHot().fit(["the cat", "the other cat"])
    >>> one_hot.vectors(["other", "cat"]).toarray().tolist()
    [[0, 1, 0], [1, 0, 0]]
    """

    name = "one-hot"

    def __init__(self, *, lowercase: bool = True, token_pattern: str = TOKEN_PATTERN,
                 min_df: int | float = 1, max_df: int | float = 1.0,
                 max_features: int | None = None, stop_words: str | Iterable[str] | None = None,
                 vocabulary: Mapping[str, int] | Iterable[str] | None = None,
                 normalise: str | None = None, threads: int | None = None):
        self.lowercase, self.token_pattern, self.min_df, self.max_df, self.max_features = lowercase, token_pattern, min_df, max_df, max_features
        self.stop_words, self.vocabulary, self.normalise, self.threads = stop_words, vocabulary, normalise, threads

    def _bag(self) -> BagOfWords:
        return BagOfWords(**self.get_params(), binary=True)

    def fit(self, documents: Iterable[str]) -> OneHot:
        """Learn the vocabulary.

        Parameters: documents, any iterable of str, read once. Returns self. Raises as
        `BagOfWords.fit`.
        """
        self._learned(self._bag().fit(documents))
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Learn the vocabulary and transform, in one pass.

        Returns CSR (n_texts, n_columns) of 0 and 1, int64. Raises as `fit`.
        """
        bag = self._bag()
        presence = bag.fit_transform(documents)
        self._learned(bag)
        return presence

    def _learned(self, bag: BagOfWords) -> None:
        self._fitted_bag, self.vocabulary_, self._fitted_settings = bag, bag.vocabulary_, self.get_params(
        )

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Which known tokens each text contains. Returns CSR (n_texts, n_columns) of 0 and 1,
        int64; 0 texts give 0 rows.

        Raises NotFittedError, TypeError (not texts). A text without a known token is a zero row;
        one DataWarning gives number and first index.
        """
        self._check_fitted("vocabulary_")
        return self._fitted_bag.transform(documents)

    def vectors(self, tokens: Sequence[str]) -> sparse.csr_matrix:
        """One row per token, with a single 1. Returns CSR (n_tokens, n_columns), int64.

        Raises NotFittedError, TypeError (one str, or a token that is none), UnknownWord with at
        most 3 near words.
        """
        self._check_fitted("vocabulary_")
        if isinstance(tokens, (str, bytes)):
            raise TypeError(f"tokens={shown(tokens)} is one {type(tokens).__name__}; expected a "
                            "list of tokens. Pass [token]")
        columns = []
        for i, token in enumerate(tokens):
            if not isinstance(token, str):
                raise TypeError(f"tokens[{i}]={shown(token)} is {type(token).__name__}; expected a "
                                "token (str)")
            if token not in self.vocabulary_:
                raise unknown_word(token, self.vocabulary_)
            columns.append(self.vocabulary_[token])
        n, indices = len(columns), np.array(columns, dtype=np.int32)
        return sparse.csr_matrix(
            (np.ones(n, dtype=np.int64), indices, np.arange(n + 1, dtype=np.int32)),
            shape=(n, self.dim))

    @property
    def dim(self) -> int:
        """Number of columns: the size of the vocabulary."""
        self._check_fitted("vocabulary_")
        return len(self.vocabulary_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Presence of each token as dense vectors.

        Returns (n, dim) float32. Raises as `transform`, and MemoryError when it cannot fit.
        """
        return dense_vectors(self.transform, texts, dim=self.dim, batch_size=batch_size,
                             progress=progress)

    def save(self, path: str | os.PathLike) -> None:
        """Write settings and vocabulary into a folder. Raises NotFittedError, OSError."""
        self._check_fitted("vocabulary_")
        save_counts(path, self, self.vocabulary_, {})

    @classmethod
    def load(cls, path: str | os.PathLike) -> OneHot:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        estimator, vocabulary, _, _ = load_counts(path, cls)
        estimator._learned(loaded_bag(path, estimator, vocabulary))
        return estimator
