"""Words and their vectors: who is near whom, what completes an analogy, which word does not belong.

Everything is asked by cosine, the angle between two vectors whatever their norms; a zero vector
has cosine 0 with every other. Nothing is kept between two questions, so a vector that was changed
counts at once. Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..core import (DamagedFile, UnknownWord, check_array, check_choice, check_int, load_model,
                    save_model, shown)
from ..core.documents import check_encodable
from ..core.learned import Learned, checked_array, packed_strings, unpacked_strings
from ..core.parameters import Packed

__all__ = ["GivenVectors", "LearnedVectors", "WordVectors"]

METHODS = ("3cosadd", "3cosmul")
EPSILON = 0.001  # keeps the division of 3CosMul finite [levy2014linguistic]
ROWS_AT_ONCE = 4096


def _checked_tokens(tokens: Iterable[str], *, name: str = "tokens") -> list[str]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(f"{name}={shown(tokens)} is {type(tokens).__name__}; expected a list of "
                        "words. Pass [word]")
    tokens = list(tokens)
    if not set(map(type, tokens)) <= {str}:
        i = next(i for i, token in enumerate(tokens) if type(token) is not str)
        if not isinstance(tokens[i], str):
            raise TypeError(f"{name}[{i}]={shown(tokens[i])} is {type(tokens[i]).__name__}; "
                            "expected a word (str)")
        tokens = [str(token) for token in tokens]
    if "" in tokens:
        raise ValueError(f"{name}[{tokens.index('')}] is an empty word; expected a str with >= 1 "
                         "character")
    for i, token in enumerate(tokens):
        if not token.isascii():
            check_encodable(f"{name}[{i}]={shown(token)}", token)
    return tokens


def _checked_matrix(matrix: Any, *, columns: int | None = None) -> np.ndarray:
    array = check_array("matrix", matrix, columns=columns)
    peak = np.abs(array).max(initial=0) if array.dtype.itemsize > 4 else 0
    if peak > np.finfo(np.float32).max:
        raise ValueError(f"matrix holds {peak:g}; expected numbers within float32, up to 3.4e+38. "
                         "Scale it down: cosines stay as they are")
    return np.ascontiguousarray(array, dtype=np.float32)


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows scaled to norm 1, float64; a zero row stays zero."""
    rows = rows.astype(np.float64)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms != 0)


class WordVectors:
    """Words and one vector each, most frequent words first by convention.

    Parameters
    ----------
    tokens : sequence of str, distinct
    matrix : (V, dim) real, finite
        Row i of ``tokens[i]``; kept as it is when float32 and in order, else copied to float32.
    name : str, default "word vectors"
        For tables.

    Attributes
    ----------
    tokens : list of str
    matrix : (V, dim) float32

    Raises
    ------
    TypeError, ValueError
        A word twice, rows and words that differ in number, NaN, numbers beyond float32.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "stone"], [[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> vectors.most_similar("cat", topn=1)
    [('dog', 0.7071067811865475)]
    """

    def __init__(self, tokens: Sequence[str], matrix: Any, *, name: str = "word vectors"):
        self.tokens, self.matrix, self.name = _checked_tokens(tokens), _checked_matrix(matrix), name
        if len(self.tokens) != len(self.matrix):
            raise ValueError(f"matrix has shape {self.matrix.shape} for {len(self.tokens)} tokens; "
                             "expected one row per token")
        self._ids = dict(zip(self.tokens, range(len(self.tokens)), strict=True))
        if len(self._ids) < len(self.tokens):
            i = next(i for i, token in enumerate(self.tokens) if self._ids[token] != i)
            raise ValueError(f"tokens holds {shown(self.tokens[i])} twice, at {i} and "
                             f"{self._ids[self.tokens[i]]}; expected distinct words")

    @property
    def dim(self) -> int:
        """Columns of a vector."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __repr__(self) -> str:
        return f"WordVectors({self.name}: {len(self):,} words x {self.dim})"

    def id(self, token: str) -> int:
        """The row of a word.

        Parameters
        ----------
        token : str

        Returns
        -------
        int

        Raises
        ------
        UnknownWord
            With at most 3 near words.
        """
        return int(self.ids([token])[0])

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The rows of words.

        Parameters
        ----------
        tokens : iterable of str

        Returns
        -------
        (n,) int64

        Raises
        ------
        UnknownWord
            Names all missing words, with at most 3 words near the first.
        """
        tokens = _checked_tokens(tokens)
        missing = list(dict.fromkeys(token for token in tokens if token not in self._ids))
        if missing:
            from ..text.vocabulary import near_words

            near = near_words(missing[0], self.tokens)
            several = f"{', '.join(map(shown, missing[:20]))}{' …' if len(missing) > 20 else ''}"
            hint = f"; near words: {', '.join(map(repr, near))}" if near else ""
            raise UnknownWord(f"no vector for {several} among {len(self):,} words{hint}")
        return np.array([self._ids[token] for token in tokens], dtype=np.int64)

    def __getitem__(self, token: str | Sequence[str]) -> np.ndarray:
        """The vector of a word, (dim,), a view; of a list of words, (n, dim), a copy.

        Raises UnknownWord.
        """
        return self.matrix[self.id(token) if isinstance(token, str) else self.ids(token)]

    def add(self, tokens: Sequence[str], matrix: Any) -> None:
        """Add new words with their vectors behind the others; arrays handed out before keep the old
        rows.

        Parameters
        ----------
        tokens : sequence of str
            Words that are not yet here.
        matrix : (n, dim) real

        Raises
        ------
        ValueError
            A word twice, another width; then nothing is added.
        """
        tokens = _checked_tokens(tokens)
        twice = [token for i, token in enumerate(tokens)
                 if token in self._ids or token in tokens[:i]]
        array = check_array("matrix", matrix)
        if twice or array.shape != (len(tokens), self.dim):
            what = f"{shown(twice[0])} has a vector already; " if twice else ""
            raise ValueError(f"{what}matrix has shape {array.shape} for {len(tokens)} new words; "
                             f"expected ({len(tokens)}, {self.dim}) and words that are not yet "
                             "here. Nothing was added")
        self.matrix = np.concatenate([self.matrix, _checked_matrix(array)])
        self._ids |= {token: len(self.tokens) + i for i, token in enumerate(tokens)}
        self.tokens = self.tokens + tokens

    # -------------------------------------------------------------------------- questions

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words; 0 with a zero vector.

        Parameters
        ----------
        a, b : str

        Returns
        -------
        float in [-1, 1]

        Raises
        ------
        UnknownWord
        """
        first, second = _unit(self.matrix[self.ids([a, b])])
        return float(np.clip(first @ second, -1.0, 1.0))

    def most_similar(self, word: str | np.ndarray, *, topn: int = 10,
                     first: int | None = None) -> list[tuple[str, float]]:
        """The words with the highest cosine to a word, which is not its own answer, or to a vector.

        Parameters
        ----------
        word : str or (dim,) real
        topn : int >= 1, default 10
            Above the words there are: all the others.
        first : int >= 1, optional
            Look among that many words only, the most frequent ones.

        Returns
        -------
        list of (word, cosine)
            Highest first; of equals the earlier word first.

        Raises
        ------
        UnknownWord, ValueError
            topn or first < 1, a zero query.
        """
        if isinstance(word, str):
            rows = self.ids([word])
            return self._nearest(self.matrix[rows[0]], rows, topn, first, shown(word))
        query = check_array("word", word, ndim=1, columns=self.dim)
        return self._nearest(query, np.empty(0, dtype=np.int64), topn, first, "the vector given")

    def analogy(self, a: str, b: str, c: str, *, topn: int = 10, method: str = "3cosadd",
                exclude: bool = True, first: int | None = None) -> list[tuple[str, float]]:
        """The words that are to c as b is to a, best first; of equals the earlier word first.

        Parameters
        ----------
        a, b, c : str
        topn : int >= 1, default 10
        method : {"3cosadd", "3cosmul"}
        exclude : bool, default True
            Bar the three words asked from the answers; without it the best is mostly b or c.
        first : int >= 1, optional
            Look among that many words only, the most frequent ones.

        Returns
        -------
        list of (word, score)

        Raises
        ------
        UnknownWord
            Names all missing words.
        ValueError

        Notes
        -----
        3cosadd:  cos(x, b/‖b‖ - a/‖a‖ + c/‖c‖) [mikolov2013linguistic]

        3cosmul:  x·b x·c / (x·a + 0.001), cosines moved to [0, 1] [levy2014linguistic]
        """
        check_choice("method", method, METHODS)
        asked = self.ids([a, b, c])
        barred = asked if exclude else np.empty(0, dtype=np.int64)
        unit = _unit(self.matrix[asked])
        if method == "3cosadd":
            return self._nearest(unit[1] - unit[0] + unit[2], barred, topn, first,
                                 f"{shown(b)} - {shown(a)} + {shown(c)}")
        n, topn = self._among(first), check_int("topn", topn)
        to_a, to_b, to_c = (self._cosines(np.arange(n), unit) + 1).T / 2
        return self._best(np.arange(n), to_b * to_c / (to_a + EPSILON), barred, topn)

    def odd_one_out(self, words: Sequence[str]) -> str:
        """The word that is farthest, by cosine, from the mean of the unit vectors of all.

        Parameters
        ----------
        words : sequence of str, >= 3

        Returns
        -------
        str
            Of equals the earlier.

        Raises
        ------
        UnknownWord
            Names all missing words.
        ValueError
            Fewer than 3 words.
        """
        rows = self.ids(words)
        if len(rows) < 3:
            raise ValueError(f"words={shown(list(words))} holds {len(rows)} words; expected >= 3, "
                             "of which one may be odd")
        unit = _unit(self.matrix[rows])
        return self.tokens[rows[np.round(unit @ _unit(unit.mean(axis=0)), 12).argmin()]]

    def _among(self, first: int | None) -> int:
        return len(self) if first is None else min(check_int("first", first), len(self))

    def _nearest(self, query: np.ndarray, barred: np.ndarray, topn: int, first: int | None,
                 what: str) -> list[tuple[str, float]]:
        n, topn = self._among(first), check_int("topn", topn)
        query = _unit(np.asarray(query))
        if not query.any():
            raise ValueError(f"{what} is the zero vector, which has no direction; expected a word "
                             "or vector that is not all 0")
        rows = self._candidates(query, n, topn + len(barred))
        return self._best(rows, self._cosines(rows, query[None])[:, 0], barred, topn)

    def _candidates(self, query: np.ndarray, n: int, k: int) -> np.ndarray:
        """Rows that may be among the k with the highest cosine to a unit vector: float32 cosines
        and a bound on their rounding rule the others out.

        `kernels.knn` does the same for many queries at once; for one its preparation would take
        twenty times as long as the answer.
        """
        if k >= n:
            return np.arange(n)
        x = self.matrix[:n]
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", x, x)
            # the others, zero vectors too, are always looked at again
            bounded = (squares > 1e-30) & (squares < 1e30)
            fast = np.where(bounded, x @ query.astype(np.float32) / np.sqrt(squares), -np.inf)
        slack = 2 * (1.5 * self.dim + 8) * 2.0**-24
        return np.flatnonzero((fast >= np.partition(fast, n - k)[n - k] - slack) | ~bounded)

    def _cosines(self, rows: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Cosines of some rows with unit vectors (k, dim), float64 (len(rows), k); summed row by
        row, so that equal rows have equal cosines."""
        out = np.empty((len(rows), len(unit)))
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            block = _unit(self.matrix[rows[begin : begin + ROWS_AT_ONCE]])
            for column, vector in enumerate(unit):
                out[begin : begin + len(block), column] = (block * vector).sum(axis=1)
        return out.clip(-1.0, 1.0)

    def _best(self, rows: np.ndarray, scores: np.ndarray, barred: np.ndarray,
              topn: int) -> list[tuple[str, float]]:
        if np.isnan(scores).any():
            row = rows[np.isnan(scores).argmax()]
            raise ValueError(f"matrix[{row}], the vector of {shown(self.tokens[row])}, was set to "
                             "NaN or infinity; expected finite numbers")
        order = np.argsort(-scores, kind="stable")
        order = order[~np.isin(rows[order], barred)][:topn]
        return [(self.tokens[row], score)
                for row, score in zip(rows[order].tolist(), scores[order].tolist(), strict=True)]

    # -------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write a folder that `load` reads: any word, float32 numbers, checksums.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        OSError
        """
        arrays = {"matrix": self.matrix} | packed_strings(self.tokens)
        save_model(path, "WordVectors", settings={"name": self.name}, arrays=arrays)

    @classmethod
    def load(cls, path: str | os.PathLike, *, verify: bool = True) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or path
        verify : bool, default True
            Compare every number with the checksums it was saved with (about 0.5 s per GB).

        Returns
        -------
        WordVectors

        Raises
        ------
        FileNotFoundError, DamagedFile, ValueError
            Not there; cut, changed, or of another kind; of a newer format.
        """
        settings, arrays, _ = load_model(path, "WordVectors", verify=verify)
        try:
            return cls(unpacked_strings(arrays), arrays["matrix"], **settings)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} does not hold the words of a WordVectors: {error}. Save it "
                              "again") from error


class LearnedVectors(Learned):
    """Word vectors among what a method learned; ``file`` is the name of their matrix."""

    def __init__(self, *, file: str, doc: str = "") -> None:
        super().__init__("WordVectors", doc, file=file)

    def pack(self, value: WordVectors) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The matrix and the words."""
        return {self.file: value.matrix} | packed_strings(value.tokens), {}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> WordVectors:
        """The vectors, with as many columns as the setting ``dim`` says."""
        tokens = unpacked_strings(arrays)
        sizes["tokens"] = len(tokens)
        return WordVectors(tokens, checked_array(arrays, self.file, "tokens", "dim", sizes=sizes))


class GivenVectors(Packed):
    """Word vectors that a method is given, and that are saved with it."""

    def __init__(self, doc: str = "", **options: Any) -> None:
        super().__init__(doc=doc, kind="WordVectors", **options)

    def checked(self, name: str, value: Any) -> WordVectors:
        """The vectors. Raises TypeError for anything else, ValueError for none."""
        if not isinstance(value, WordVectors):
            raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected "
                            "WordVectors. Make them: WordVectors(tokens, matrix), "
                            "vectors.read_text(path) or vectors.from_gensim(model)")
        if not len(value) or not value.dim:
            raise ValueError(f"{name}={value!r} is empty; expected >= 1 word with >= 1 dimension")
        return value

    def pack(self, value: WordVectors) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The matrix, the words and the name."""
        return {"matrix": value.matrix} | packed_strings(value.tokens), {self.name: value.name}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> WordVectors:
        """The vectors; notes how many ``tokens`` they have."""
        vectors = WordVectors(unpacked_strings(arrays), arrays["matrix"], name=extra[self.name])
        sizes |= {"tokens": len(vectors), "dim": vectors.dim}
        return vectors
