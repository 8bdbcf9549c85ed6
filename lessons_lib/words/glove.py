"""GloVe: two vectors per word whose product tells how often the two words stand near each other, on a logarithmic scale.

The text is read once, to count which words meet within a window; then only the counts are learned, frequent ones with more weight, by AdaGrad. It
is a weighted regression on log counts, no principal component analysis. The steps are compiled vector code (`kernels.glove_step`). Taught in
lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from ..core import (DamagedFile, Estimator, TrainingDiverged, cache_folder, check_choice, check_float, check_int, check_seed, fingerprint, generator,
                    load_model, save_model, shown, track)
from ..vectors import WordVectors
from .reading import Reading, read, read_with
from .run import Run, all_or_nothing

__all__ = ["GloVe"]

COUNTS_PER_PART = 20_000_000                    # about a second; between two looks at whether all numbers are still sane
LARGEST = 1e3                                   # a number beyond it belongs to a run that diverges: sound ones stay below 20


@dataclass(frozen=True)
class _Numbers:
    """All that is learned: words and contexts (V, dim + 1), each a vector and its bias, and AdaGrad's sum of squares for each number."""

    words: np.ndarray
    contexts: np.ndarray
    word_squares: np.ndarray
    context_squares: np.ndarray


class GloVe(Estimator):
    """Word vectors from co-occurrence counts: w·w̃ + b + b̃ ≈ log X, weighted by f(X) = min(1, X / x_max)^exponent.

    Parameters: dim; window, words counted on either side, each with weight 1/distance; x_max and exponent of the weight; epochs, passes over the
    counts; learning_rate, of the first steps: AdaGrad lowers it for each number by itself; min_count, words that are rarer are left out; symmetric,
    count both sides, False only the words before; bias_rate, "paper": the learning rate holds for biases as for vectors, "code": biases learn at
    rate 1, as in the original program; gradient_clip, largest part of a gradient; threads, without influence on the result; seed; memory, bytes for
    counting and again for the counts in the order in which they are learned: what is beyond is laid in files in the cache folder; progress, show a
    bar.
    Learned: ``vectors_`` (`WordVectors` w + w̃); ``word_vectors_`` w and ``context_vectors_`` w̃ (V, dim), ``word_biases_`` and ``context_biases_``
    (V,) float32; ``counts_`` (V,) int64 of the words, None after `fit_counts`; ``history_`` (epochs,) float64, mean ½ f diff² per count in each
    epoch, every count before its own step. Runs are bitwise reproducible. [pennington2014glove]

    >>> model = GloVe(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vectors_.matrix.shape
    (3, 4)
    """

    name = "GloVe"

    def __init__(self, dim: int = 100, *, window: int = 15, x_max: float = 100.0, exponent: float = 0.75, epochs: int = 25,
                 learning_rate: float = 0.05, min_count: int = 5, symmetric: bool = True, bias_rate: str = "paper", gradient_clip: float = 100.0,
                 threads: int = 1, seed: int = 0, memory: int = 1 << 30, progress: bool = False):
        self.dim, self.window, self.x_max, self.exponent, self.epochs = dim, window, x_max, exponent, epochs
        self.learning_rate, self.min_count, self.symmetric, self.bias_rate = learning_rate, min_count, symmetric, bias_rate
        self.gradient_clip, self.threads, self.seed, self.memory, self.progress = gradient_clip, threads, seed, memory, progress

    def _check_settings(self) -> None:
        for name in ("dim", "window", "epochs", "min_count", "threads", "memory"):
            check_int(name, getattr(self, name))
        for name in ("x_max", "learning_rate", "gradient_clip"):
            check_float(name, getattr(self, name), low=0.0, open_low=True)
        check_float("exponent", self.exponent, low=0.0)
        check_choice("bias_rate", self.bias_rate, ("paper", "code"))
        check_seed(self.seed)
        for name in ("symmetric", "progress"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name}={shown(getattr(self, name))} is {type(getattr(self, name)).__name__}; expected True or False")

    # -------------------------------------------------------------------------------------------- learning

    def fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Count and learn from the beginning. Returns self.

        Parameters: corpus, a `text.Corpus` or a sequence of token lists; windows do not reach over the borders of documents; on_epoch, called with
        the model after each epoch. Raises TypeError or ValueError (settings, another kind of data, no or one word left, no two words that meet),
        TrainingDiverged: the vectors are then the last ones that were sane. After Ctrl-C, too, the model holds what was learned; `resume` goes on.
        """
        self._check_settings()
        reading = read(corpus, min_count=self.min_count)
        return self._begin(self._counted(reading), reading.tokens, reading.counts, on_epoch)

    def fit_counts(self, counts: Any, tokens: Sequence[str] | None = None, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn ready counts from the beginning. Returns self.

        Parameters: counts, `counts.Cooccurrences` or a sparse (V, V) matrix, row = word, column = context, all stored numbers > 0; tokens, V words,
        None for "0", "1", …; on_epoch as in `fit`. The settings window, min_count and symmetric are not used. Raises as `fit`.
        """
        self._check_settings()
        counts = _as_counts(counts)
        n = len(counts.offsets) - 1
        tokens = [str(i) for i in range(n)] if tokens is None else list(tokens)
        if len(tokens) != n:
            raise ValueError(f"tokens holds {len(tokens)} words for {n} rows of counts; expected one each")
        return self._begin(counts, tokens, None, on_epoch)

    def partial_fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with the counts of another text for ``epochs`` epochs. Returns self.

        Words that are new and occur ``min_count`` times in it get vectors. Sums of squares stay: words learned well move little, new ones far.
        Before any `fit` it is one. Parameters and errors as in `fit`; ValueError also where dim is not that of the fit.
        """
        self._check_settings()
        if not hasattr(self, "vectors_"):
            return self.fit(corpus, on_epoch=on_epoch)
        self._check_same_shape()
        reading = read_with(corpus, self.vectors_.tokens, min_count=self.min_count, grow=True)
        counts, more = self._counted(reading), len(reading.tokens) - len(self.vectors_)
        fresh = self._fresh(more, int(self.seed) + len(self.vectors_))
        with all_or_nothing(self):
            self._numbers = _Numbers(*(np.concatenate([getattr(part, name) for part in (self._numbers, fresh)]) for name in vars(fresh)))
            if self.counts_ is not None:
                self.counts_ = np.concatenate([self.counts_, np.zeros(more, dtype=np.int64)]) + reading.counts
            self._run = Run(float(self.learning_rate), _fingerprint(counts), before=self._run.epochs_done, history=self._run.history)
            state = self._state(counts)
            self._hand_over(state, reading.tokens)
        self._train(state, reading.tokens, on_epoch)
        return self

    def resume(self, source: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on until all epochs are done: after Ctrl-C, after `load`, or when `set_params` has raised ``epochs``. Returns self.

        The result is bitwise that of a run that was never interrupted. Parameters: source, the corpus or the counts that were learned before;
        on_epoch as in `fit`. A finished run is left as it is. Raises NotFittedError, ValueError for other counts, and as `fit`.
        """
        self._check_fitted("vectors_")
        self._check_settings()
        if self._run.epoch >= self.epochs:
            return self
        self._check_same_shape()
        if _looks_like_counts(source):
            counts = _as_counts(source)
        else:
            counts = self._counted(read_with(source, self.vectors_.tokens, min_count=self.min_count, grow=False))
        if _fingerprint(counts) != self._run.text:
            raise ValueError(f"the {len(counts.columns):,} counts are not those of the interrupted run (another text, window or symmetric=). "
                             "For more text: partial_fit")
        self._train(self._state(counts), self.vectors_.tokens, on_epoch)
        return self

    def _check_same_shape(self) -> None:
        if self.dim != self.vectors_.dim:
            raise ValueError(f"dim={self.dim} differs from that of the fit ({self.vectors_.dim} columns); fit anew")

    def _begin(self, counts: Any, tokens: list[str], word_counts: np.ndarray | None, on_epoch: Callable[[Self], object] | None) -> Self:
        with all_or_nothing(self):
            self._numbers, self.counts_ = self._fresh(len(tokens), self.seed), word_counts
            self._run = Run(float(self.learning_rate), _fingerprint(counts))
            state = self._state(counts)
            self._hand_over(state, tokens)
        self._train(state, tokens, on_epoch)
        return self

    def _counted(self, reading: Reading) -> Any:
        from ..counts import Cooccurrences

        text = SimpleNamespace(token_ids=reading.words, offsets=reading.offsets, vocabulary=reading.tokens)
        counts = Cooccurrences.from_corpus(text, self.window, symmetric=self.symmetric, memory=self.memory, threads=self.threads)
        if len(counts.columns) == 0:
            raise ValueError(f"corpus has no two known words within window={self.window} of each other in one document; there is nothing to "
                             "learn. Make documents longer than one word")
        return counts

    def _fresh(self, n: int, seed: int) -> _Numbers:
        """Start values: uniform within half a unit by dim to both sides of 0; sums of squares 1, of biases that learn at rate 1 less."""
        rng, shape = generator(seed), (n, int(self.dim) + 1)
        numbers = [(rng.random(shape, dtype=np.float32) - np.float32(0.5)) / np.float32(self.dim) for _ in range(2)]
        squares = np.ones(shape, dtype=np.float32)
        if self.bias_rate == "code":                # the step η g / √(η² + η² Σ g²) is g / √(1 + Σ g²)
            squares[:, -1] = self.learning_rate**2
        return _Numbers(*numbers, squares, squares.copy())

    def _state(self, counts: Any) -> Any:
        from ..kernels import GloveState
        from ..kernels.glove_step.state import BYTES_PER_COUNT

        on_disk = BYTES_PER_COUNT * len(counts.columns) > self.memory
        now = self._numbers
        return GloveState(counts.offsets, counts.columns, counts.values, now.words, now.contexts, word_squares=now.word_squares,
                          context_squares=now.context_squares, x_max=self.x_max, exponent=self.exponent, seed=self.seed,
                          folder=cache_folder() if on_disk else None)

    def _train(self, state: Any, tokens: list[str], on_epoch: Callable[[Self], object] | None) -> None:
        """Do the parts of the run that are left."""
        n, parts, epochs = len(state.rows), _parts(state), int(self.epochs)
        if self._run.part == len(parts):            # interrupted between the last part and the end of its epoch
            self._run = self._run.after_epoch()
        todo = [(epoch, part) for epoch in range(self._run.epoch, epochs) for part in parts][self._run.part :]
        try:
            for _, part in track(todo, total=n * epochs, label=self.name, show=self.progress, unit=" counts",
                                 size=lambda x: n * (x[1][1] - x[1][0]) // state.groups, done=n * self._run.epoch):
                self._part(state, part)
                if self._run.part == len(parts):
                    self._run = self._run.after_epoch()
                    if on_epoch is not None:
                        self._hand_over(state, tokens)
                        on_epoch(self)
        finally:                                    # also after Ctrl-C and divergence: what has been learned so far
            self._hand_over(state, tokens)

    def _part(self, state: Any, rounds: tuple[int, int]) -> None:
        """Learn some rounds of an epoch, and take it back if it was interrupted or numbers have left their range."""
        from ..kernels import glove_step

        before = state.words.clone(), state.contexts.clone(), self._run
        try:
            loss, left_out = glove_step(state, learning_rate=self.learning_rate, clip=self.gradient_clip, seed=self.seed, epoch=self._run.epochs_done,
                                        rounds=rounds, threads=self.threads)
            self._check_sane(state, loss, left_out)
            n = len(state.rows) if rounds[1] == state.groups else 0       # the loss of an epoch is per count
            self._run = self._run.after_part(loss, n)
        except BaseException:
            state.words.copy_(before[0])
            state.contexts.copy_(before[1])
            self._run = before[2]
            raise

    def _check_sane(self, state: Any, loss: float, left_out: int) -> None:
        largest = max(float(x[:, 0].abs().max()) for x in (state.words, state.contexts))
        if not largest < LARGEST or left_out or not np.isfinite(loss):              # NaN is not smaller, either
            last = f"{self._run.history[-1]:.4g}" if self._run.history else "none"
            raise TrainingDiverged(f"training diverged in epoch {self._run.epochs_done + 1}, step {self._run.part + 1} of it: a number reached "
                                   f"{largest:g}; last finite loss: {last}. The vectors are those of before this step. "
                                   f"Use a smaller rate: learning_rate={self.learning_rate / 10:.3g}, or 0.05")

    def _hand_over(self, state: Any, tokens: list[str]) -> None:
        """Copy what was learned so far from the working state into the attributes that others see."""
        self._numbers = _Numbers(*state.parameters())
        self.history_ = np.array(self._run.history, dtype=np.float64)
        self._show(tokens)

    def _show(self, tokens: Sequence[str]) -> None:
        words, contexts = self._numbers.words, self._numbers.contexts
        self.word_vectors_, self.context_vectors_ = words[:, :-1], contexts[:, :-1]
        self.word_biases_, self.context_biases_ = words[:, -1], contexts[:, -1]
        self.vectors_ = WordVectors(tokens, self.word_vectors_ + self.context_vectors_, name=self.name)

    # -------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder, from which training can go on. Raises NotFittedError, OSError, ValueError (settings not of the fit)."""
        from ..text.string_table import Strings

        self._check_fitted("vectors_")
        self._check_settings()                      # what is saved must be what load accepts
        self._check_same_shape()
        strings = Strings.of(self.vectors_.tokens)
        arrays = {**vars(self._numbers), "history": self.history_, "token_bytes": strings.arena, "token_offsets": strings.offsets}
        if self.counts_ is not None:
            arrays["counts"] = self.counts_
        settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.get_params().items()}
        save_model(path, "GloVe", settings=settings, arrays=arrays, extra={"run": self._run.saved()})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a model that `save` wrote. Raises FileNotFoundError, DamagedFile, ValueError (a newer format)."""
        from ..counts.encoding import loaded_array
        from ..text.string_table import Strings

        settings, arrays, extra = load_model(path, "GloVe")
        try:
            model = cls(**settings)
            model._check_settings()
            tokens = Strings.checked(arrays["token_bytes"], arrays["token_offsets"], name="token_offsets").to_list()
            n = len(tokens)
            names = ("words", "contexts", "word_squares", "context_squares")
            model._numbers = _Numbers(*(loaded_array(path, arrays, name, shape=(n, model.dim + 1)) for name in names))
            model.counts_ = loaded_array(path, arrays, "counts", shape=(n,), kind="i") if "counts" in arrays else None
            model.history_ = arrays["history"]
            model._run = Run.loaded(extra["run"], model.history_)
            model._show(tokens)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a GloVe that this version cannot read ({error}). Save the model again") from error
        return model


def _looks_like_counts(source: Any) -> bool:
    return hasattr(source, "tocsr") or all(hasattr(source, name) for name in ("offsets", "columns", "values"))


def _as_counts(counts: Any) -> Any:
    """Anything with offsets, columns and values in float32. Raises TypeError or ValueError for what is no square matrix of counts."""
    if not _looks_like_counts(counts):
        raise TypeError(f"counts={shown(counts)} is {type(counts).__name__}; expected Cooccurrences or a sparse matrix. A text: fit(corpus)")
    found = _rows_of(counts) if hasattr(counts, "tocsr") else counts
    n = len(found.offsets) - 1
    if n < 2:
        raise ValueError(f"counts are those of {n} word{'s' * (n != 1)}, >= 2 needed: a word is learned from others")
    if len(found.columns) == 0:
        raise ValueError("counts has no stored numbers, so there is nothing to learn")
    return found


def _rows_of(counts: Any) -> Any:
    """The compressed rows of a sparse matrix of any format, which is checked first: SciPy follows wrong numbers of rows out of its memory."""
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"counts has shape {counts.shape}; expected (V, V), a word in each row and in each column")
    if counts.dtype.kind not in "fiub":
        raise TypeError(f"counts has dtype {counts.dtype}; expected real numbers. Convert it: counts.astype(float)")
    if hasattr(counts, "check_format"):
        try:
            counts.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"counts is a damaged {counts.format} matrix: {error}. Build it anew") from error
    elif counts.format == "coo" and counts.nnz and not all(0 <= x.min() <= x.max() < counts.shape[0] for x in (counts.row, counts.col)):
        raise ValueError(f"counts holds rows or columns outside of [0, {counts.shape[0] - 1}]. Make it again")
    rows = counts.tocsr()
    with np.errstate(over="ignore", under="ignore"):                      # what leaves float32 is named by its row later
        return SimpleNamespace(offsets=rows.indptr.astype(np.int64), columns=rows.indices.astype(np.int32), values=rows.data.astype(np.float32))


def _fingerprint(counts: Any) -> str:
    return fingerprint(counts.offsets, counts.columns, np.asarray(counts.values, dtype=np.float32).view(np.int32))


def _parts(state: Any) -> list[tuple[int, int]]:
    """Runs of rounds (first, last + 1) with about `COUNTS_PER_PART` counts each."""
    n = min(state.groups, max(1, -(-len(state.rows) // COUNTS_PER_PART)))
    return list(pairwise(np.linspace(0, state.groups, n + 1).astype(int).tolist()))
