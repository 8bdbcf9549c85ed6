"""One-hot: each word its own axis. The least a vector can know: whether two words are the same.

Every pair of different words is sqrt(2) apart and has cosine 0. The sum of a text's one-hots is its
bag of words; here a text's vector has 1 for each word it contains. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..core import shown
from ..text.vocabulary import unknown_word
from .bag_of_words import BagOfWords

__all__ = ["OneHot"]


class OneHot(BagOfWords):
    """One axis per token.

    `vectors` gives the one-hot vectors of tokens, `transform` which tokens each text contains.

    Notes
    -----
    `transform` takes texts, not tokens: row i is the sum of the one-hots of text i, cut to 1. The
    settings have the defaults of `BagOfWords`, so with equal settings the one-hots of a text's
    tokens add up to its bag of words.

    Examples
    --------
    >>> one_hot = OneHot().fit(["the cat", "the other cat"])
    >>> one_hot.vectors(["other", "cat"]).toarray().tolist()
    [[0, 1, 0], [1, 0, 0]]
    """

    ngram_range, analyzer, binary = (1, 1), "word", True     # no settings here

    name = "one-hot"

    def vectors(self, tokens: Sequence[str]) -> sparse.csr_matrix:
        """One row per token, with a single 1.

        Parameters
        ----------
        tokens : sequence of str

        Returns
        -------
        (n_tokens, n_columns) CSR of int64

        Raises
        ------
        NotFittedError, TypeError
            Not fitted; one str, or a token that is none.
        UnknownWord
            With at most 3 near words.
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
        return sparse.csr_matrix((np.ones(n, dtype=np.int64), indices,
                                  np.arange(n + 1, dtype=np.int32)), shape=(n, self.dim))
