"""GloVe: two vectors per word whose product tells how often the two words stand near each other.

The text is read once, to count which words occur together within a window. Then only the counts are
learned, frequent ones with more weight, by AdaGrad: a weighted regression on log counts, no
principal component analysis. The steps are compiled vector code (`kernels.glove_step`). Taught in
lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from ..core import cache_folder, check_memory, fingerprint, generator, shown
from ..core.estimator import SavedEstimator
from ..core.learned import Array, Learned, Strings
from ..core.parameters import Choice, Count, Flag, Float, Int, Rate, Seed, Threads
from ..core.run import Run, RunState, all_or_nothing, run_through
from ..vectors import WordVectors
from .encoded_corpus import EncodedCorpus, encode_corpus, encode_more
from .window_method import grown_counts

__all__ = ["GloVe"]

COUNTS_PER_PART = 20_000_000    # about a second
ROWS = ("_words", "_contexts", "_word_squares", "_context_squares")


class GloVe(SavedEstimator):
    """Word vectors from co-occurrence counts: w·w̃ + b + b̃ ≈ log X, weighted by f(X).

    Runs are bitwise reproducible, whatever ``threads`` is. [pennington2014glove]

    Notes
    -----
    The loss is ½ Σ f(X) (w·w̃ + b + b̃ - log X)², with f(X) = min(1, X / x_max)^exponent. AdaGrad
    divides each step by the root of the sum of all squared gradients of its number so far.

    Examples
    --------
    >>> model = GloVe(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vectors_.matrix.shape
    (3, 4)
    """

    name = "GloVe"

    dim = Int(100, "columns of a vector", positional=1)
    window = Int(15, "words counted on either side, each with weight 1/distance")
    x_max = Float(100.0, "count from which on the weight is 1", above=0)
    exponent = Float(0.75, "power of count / x_max below it", low=0)
    epochs = Count(25, "passes over the counts")
    learning_rate = Rate(0.05, "of the first steps: AdaGrad lowers it for each number")
    min_count = Int(5, "words that are rarer are left out")
    symmetric = Flag(True, "count both sides; False: only the words before")
    bias_rate = Choice("paper", "code", doc="'paper': the learning rate holds for biases, too; "
                                            "'code': they learn at rate 1, as in the program")
    gradient_clip = Float(100.0, "largest part of a gradient", above=0)
    threads = Threads(1)
    seed = Seed()
    memory = Int(1 << 30, "bytes for counting, and again for the counts in the order in which they "
                          "are learned; what is beyond lies in files in the cache folder",
                 high=1 << 62)
    progress = Flag(False, "show a bar")

    vectors_ = Learned("WordVectors", "w + w̃")
    word_vectors_ = Learned("(tokens, dim) float32", "w")
    context_vectors_ = Learned("(tokens, dim) float32", "w̃")
    word_biases_ = Learned("(tokens,) float32", "b")
    context_biases_ = Learned("(tokens,) float32", "b̃")
    _tokens = Strings()
    counts_ = Array("tokens", dtype="int64", file="counts", optional=True,
                    doc="how often each word occurred; None after `fit_counts`")
    _words = Array("tokens", "dim + 1", file="words")                  # a vector and its bias
    _contexts = Array("tokens", "dim + 1", file="contexts")
    _word_squares = Array("tokens", "dim + 1", file="word_squares")    # AdaGrad's sums
    _context_squares = Array("tokens", "dim + 1", file="context_squares")
    _run = RunState()

    @property
    def history_(self) -> np.ndarray:
        """Mean ½ f diff² per count in each epoch, every count before its own step: (epochs,)."""
        return np.array(self._run.history, dtype=np.float64)

    # ------------------------------------------------------------------------------ learning

    def fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Count and learn from the beginning.

        After Ctrl-C, too, the model holds what was learned, and `resume` goes on.

        Parameters
        ----------
        corpus : text.Corpus or sequence of token lists
            Windows do not reach over the borders of documents.
        on_epoch : callable, optional
            Called with the model after each epoch, for example to save it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, another kind of data, fewer than two words left, no two that occur together.
        TrainingDiverged
            The vectors are then the last ones that were finite.
        """
        self._check_settings()
        encoded = encode_corpus(corpus, min_count=self.min_count)
        self._check_memory(len(encoded.tokens))
        return self._begin(self._counted(encoded), encoded.tokens, encoded.counts, on_epoch)

    def fit_counts(self, counts: Any, tokens: Sequence[str] | None = None, *,
                   on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn ready counts from the beginning; window, min_count and symmetric are not used.

        Parameters
        ----------
        counts : counts.Cooccurrences or sparse (V, V) matrix
            Row = word, column = context, all stored numbers > 0.
        tokens : sequence of V str, optional
            None: "0", "1", …
        on_epoch : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError, TrainingDiverged
            As `fit`.
        """
        self._check_settings()
        counts = _as_counts(counts)
        n = len(counts.offsets) - 1
        tokens = [str(i) for i in range(n)] if tokens is None else list(tokens)
        if len(tokens) != n:
            raise ValueError(f"tokens holds {len(tokens)} words for {n} rows of counts; expected "
                             "one each")
        self._check_memory(n)
        return self._begin(counts, tokens, None, on_epoch)

    def partial_fit(self, corpus: Any, *,
                    on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with the counts of another text for ``epochs`` epochs; before any `fit` it is one.

        Words that are new and occur ``min_count`` times in it get vectors. Sums of squares stay:
        words learned well move little, new ones far.

        Parameters
        ----------
        corpus, on_epoch
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError, TrainingDiverged
            As `fit`; ValueError also where dim is not that of the fit.
        """
        self._check_settings()
        if not hasattr(self, "vectors_"):
            return self.fit(corpus, on_epoch=on_epoch)
        self._check_consistent()
        encoded = encode_more(corpus, self._tokens, min_count=self.min_count, grow=True)
        self._check_memory(len(encoded.tokens))
        counts, former = self._counted(encoded), len(self._tokens)
        fresh = self._fresh(len(encoded.tokens) - former, int(self.seed) + former)
        with all_or_nothing(self):
            for name, rows in fresh.items():
                setattr(self, name, np.concatenate([getattr(self, name), rows]))
            if self.counts_ is not None:
                self.counts_ = grown_counts(self.counts_, encoded)
            self._tokens = encoded.tokens
            self._run = self._run.another(float(self.learning_rate), _fingerprint(counts))
            state = self._state(counts)
        return self._train(state, on_epoch)

    def resume(self, source: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on until all epochs are done: after Ctrl-C, `load`, or when ``epochs`` were raised.

        The result is bitwise that of a run that was never interrupted. A finished run is left as it
        is.

        Parameters
        ----------
        source : corpus or counts
            Those that were learned before.
        on_epoch : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Other counts, and as `fit`.
        """
        self._check_fitted("vectors_")
        self._check_settings()
        if self._run.epoch >= self.epochs:
            return self
        self._check_consistent()
        if _looks_like_counts(source):
            counts = _as_counts(source)
        else:
            counts = self._counted(encode_more(source, self._tokens, min_count=self.min_count,
                                               grow=False))
        if _fingerprint(counts) != self._run.text:
            raise ValueError(f"the {len(counts.columns):,} counts are not those of the interrupted "
                             "run (another text, window or symmetric=). For more text: partial_fit")
        return self._train(self._state(counts), on_epoch)

    def _check_consistent(self) -> None:
        if self.dim != self.vectors_.dim:
            raise ValueError(f"dim={self.dim} differs from that of the fit ({self.vectors_.dim} "
                             "columns); fit anew")

    def _begin(self, counts: Any, tokens: list[str], word_counts: np.ndarray | None,
               on_epoch: Callable[[Self], object] | None) -> Self:
        with all_or_nothing(self):
            vars(self).update(self._fresh(len(tokens), self.seed))
            self._tokens, self.counts_ = tokens, word_counts
            self._run = Run(float(self.learning_rate), _fingerprint(counts))
            state = self._state(counts)
            self._show()
        return self._train(state, on_epoch)

    def _check_memory(self, n: int) -> None:
        """Raise MemoryError where matrices for n words cannot fit: four in the model, four in the
        kernel's state, and four as they were before the part that is learned."""
        check_memory(f"12 matrices of {n:,} words and {self.dim:,} + 1 float32 numbers",
                     4 * 12 * n * (int(self.dim) + 1), f"Lower dim={self.dim}, or leave out more "
                     f"rare words: min_count={self.min_count}")

    def _counted(self, encoded: EncodedCorpus) -> Any:
        from ..counts import Cooccurrences

        text = SimpleNamespace(token_ids=encoded.words, offsets=encoded.offsets,
                               vocabulary=encoded.tokens)
        counts = Cooccurrences.from_corpus(text, self.window, symmetric=self.symmetric,
                                           memory=self.memory, threads=self.threads)
        if len(counts.columns) == 0:
            raise ValueError(f"corpus has no two known words within window={self.window} of each "
                             "other in one document; there is nothing to learn. Make documents "
                             "longer than one word")
        return counts

    def _fresh(self, n: int, seed: int) -> dict[str, np.ndarray]:
        """Random initialisation, uniform within 0.5 / dim of 0, and AdaGrad's sums at 1.

        The sum of a bias that learns at rate 1 is η²: the step η g / √(η² + η² Σ g²) is then
        g / √(1 + Σ g²).
        """
        rng, shape = generator(seed), (n, int(self.dim) + 1)
        rows = [(rng.random(shape, dtype=np.float32) - np.float32(0.5)) / np.float32(self.dim)
                for _ in range(2)]
        squares = np.ones(shape, dtype=np.float32)
        if self.bias_rate == "code":
            squares[:, -1] = self.learning_rate**2
        return dict(zip(ROWS, (*rows, squares, squares.copy()), strict=True))

    def _state(self, counts: Any) -> Any:
        from ..kernels import GloveState
        from ..kernels.glove_step.state import BYTES_PER_COUNT

        on_disk = BYTES_PER_COUNT * len(counts.columns) > self.memory
        return GloveState(counts.offsets, counts.columns, counts.values, self._words,
                          self._contexts, word_squares=self._word_squares,
                          context_squares=self._context_squares, x_max=self.x_max,
                          exponent=self.exponent, seed=self.seed,
                          folder=cache_folder() if on_disk else None)

    def _train(self, state: Any, on_epoch: Callable[[Self], object] | None) -> Self:
        from ..kernels import glove_step

        n, groups = len(state.rows), state.groups
        n_parts = min(groups, max(1, -(-n // COUNTS_PER_PART)))
        parts = list(pairwise(np.linspace(0, groups, n_parts + 1).astype(int).tolist()))

        def learn(run: Run, rounds: tuple[int, int]) -> tuple[float, int]:
            loss, left_out = glove_step(state, learning_rate=self.learning_rate, seed=self.seed,
                                        clip=self.gradient_clip, epoch=run.epochs_done,
                                        rounds=rounds, threads=self.threads)
            # the loss of an epoch is per count, so they count when its last part is done
            return np.nan if left_out else loss, n * (rounds[1] == groups)

        def hand_over() -> None:
            vars(self).update(zip(ROWS, state.parameters(), strict=True))
            self._show()

        run_through(self, parts, learn, tensors=(state.words, state.contexts), hand_over=hand_over,
                    on_epoch=on_epoch, unit=" counts", usual_rate=0.05,
                    size=lambda part: n * (part[1] - part[0]) // groups,
                    numbers=(state.words[:, 0], state.contexts[:, 0]))     # not AdaGrad's sums
        return self

    def _show(self) -> None:
        """Set the attributes that others see."""
        self.word_vectors_, self.word_biases_ = self._words[:, :-1], self._words[:, -1]
        self.context_vectors_, self.context_biases_ = self._contexts[:, :-1], self._contexts[:, -1]
        self.vectors_ = WordVectors(self._tokens, self.word_vectors_ + self.context_vectors_,
                                    name=self.name)

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self._show()


def _looks_like_counts(source: Any) -> bool:
    fields = ("offsets", "columns", "values")
    return hasattr(source, "tocsr") or all(hasattr(source, name) for name in fields)


def _as_counts(counts: Any) -> Any:
    """Anything with offsets, columns and values in float32.

    Raises TypeError or ValueError for what is no square matrix of counts.
    """
    if not _looks_like_counts(counts):
        raise TypeError(f"counts={shown(counts)} is {type(counts).__name__}; expected "
                        "Cooccurrences or a sparse matrix. A text: fit(corpus)")
    if hasattr(counts, "tocsr"):
        counts = _rows_of(counts)
    n = len(counts.offsets) - 1
    if n < 2:
        raise ValueError(f"counts are those of {n} word{'s' * (n != 1)}, >= 2 needed: a word is "
                         "learned from others")
    if len(counts.columns) == 0:
        raise ValueError("counts has no stored numbers, so there is nothing to learn")
    return counts


def _rows_of(counts: Any) -> Any:
    """The compressed rows of a sparse matrix of any format.

    It is checked first: SciPy follows wrong numbers of rows out of its memory.
    """
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"counts has shape {counts.shape}; expected (V, V), a word in each row "
                         "and in each column")
    if counts.dtype.kind not in "fiub":
        raise TypeError(f"counts has dtype {counts.dtype}; expected real numbers. Convert it: "
                        "counts.astype(float)")
    if hasattr(counts, "check_format"):
        try:
            counts.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"counts is a damaged {counts.format} matrix: {error}. "
                             "Build it anew") from error
    elif counts.format == "coo" and counts.nnz:
        inside = [0 <= x.min() <= x.max() < counts.shape[0] for x in (counts.row, counts.col)]
        if not all(inside):
            raise ValueError(f"counts holds rows or columns outside of [0, {counts.shape[0] - 1}]. "
                             "Make it again")
    rows = counts.tocsr()
    with np.errstate(over="ignore", under="ignore"):      # what leaves float32 is named by its row
        return SimpleNamespace(offsets=rows.indptr.astype(np.int64),
                               columns=rows.indices.astype(np.int32),
                               values=rows.data.astype(np.float32))


def _fingerprint(counts: Any) -> str:
    values = np.asarray(counts.values, dtype=np.float32)
    return fingerprint(counts.offsets, counts.columns, values.view(np.int32))
