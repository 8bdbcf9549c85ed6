"""fastText: a word is the sum of its parts, so a word that no text held still has a vector.

The rows of a word and of its n-grams together guess the words around it, by the same yes-or-no questions as in word2vec; what is learned goes to
all of them. The steps are compiled vector code (`kernels.subword_update`). Taught in lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from ..core import DamagedFile, Estimator, check_float, fingerprint, generator, load_model, save_model
from ..vectors import WordVectors
from .passes import SHORT, check_same_text, check_window_settings, drawn_rows, passes
from .reading import Reading, read, read_with
from .run import Run, all_or_nothing
from .subwords import check_parts, ngram_buckets

__all__ = ["FastText"]


class FastText(Estimator):
    """Word vectors made of the parts of words, by skip-gram or CBOW, with negative sampling or hierarchical softmax.

    The vector of a word is the mean of its own row and the rows of its n-grams, as in the program fastText (its paper takes the sum). An n-gram's
    row is that of its bucket; only buckets that n-grams of the vocabulary fall into have one: memory grows with the words, not with ``buckets``.
    Parameters: min_n, max_n, characters of an n-gram (max_n=0: words without parts); buckets, for n-grams, which collide as in fastText; share_error,
    each row gets its share of the error, the gradient proper, instead of the whole as in the program; learning_rate, at the beginning, from where it
    falls to 0 along a straight line; all others as in `Word2Vec`, with fastText's own defaults.
    Learned: ``vectors_`` (`WordVectors`, the composed vectors of the vocabulary); ``word_rows_`` (V, dim), ``ngram_rows_`` (G, dim) and ``output_``
    float32; ``buckets_`` (G,) int64, the bucket of each row of n-grams; ``counts_`` (V,) int64; ``history_`` (epochs,) float64, mean −log p per pair
    of input and target in each epoch. One thread is bitwise reproducible. [bojanowski2017enriching]

    >>> model = FastText(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vector("roses").shape
    (4,)
    """

    name = "fasttext"

    def __init__(self, dim: int = 100, *, window: int = 5, architecture: str = "skip_gram", objective: str = "negative_sampling", negatives: int = 5,
                 min_count: int = 5, min_n: int = 3, max_n: int = 6, buckets: int = 2_000_000, sample: float = 1e-4, noise_exponent: float = 0.5,
                 epochs: int = 5, learning_rate: float = 0.05, threads: int = 1, deterministic: bool = True, seed: int = 0,
                 share_error: bool = False, progress: bool = False):
        self.dim, self.window, self.architecture, self.objective, self.negatives = dim, window, architecture, objective, negatives
        self.min_count, self.min_n, self.max_n, self.buckets = min_count, min_n, max_n, buckets
        self.sample, self.noise_exponent, self.epochs, self.learning_rate = sample, noise_exponent, epochs, learning_rate
        self.threads, self.deterministic, self.seed, self.share_error, self.progress = threads, deterministic, seed, share_error, progress

    def _check_settings(self) -> None:
        check_window_settings(self)
        check_parts(self.min_n, self.max_n, self.buckets)

    @property
    def _tree(self) -> bool:
        return self.objective == "hierarchical_softmax"

    @property
    def _parts(self) -> tuple[int, int, int]:
        return self.min_n, self.max_n, self.buckets

    # -------------------------------------------------------------------------------------------- learning

    def fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn from the beginning. Returns self.

        Parameters: corpus, a `text.Corpus` or a sequence of token lists; windows do not reach over the borders of documents; on_epoch, called with
        the model after each epoch, for example to save it. Raises TypeError or ValueError (settings, another kind of data, no or one word left),
        TrainingDiverged: the vectors are then the last ones that were sane. After Ctrl-C, too, the model holds what was learned; `resume` goes on.
        """
        self._check_settings()
        reading = read(corpus, min_count=self.min_count)
        with all_or_nothing(self):
            self.counts_, self._run = reading.counts, Run(float(self.learning_rate), fingerprint(reading.offsets, reading.words))
            self._own(np.empty(0, dtype=np.int64), *(np.empty((0, self.dim), dtype=np.float32) for _ in range(3)))
            go_on = self._prepared(reading)
        go_on(on_epoch=on_epoch)
        return self

    def partial_fit(self, corpus: Any, *, learning_rate: float | None = None, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with more text for ``epochs`` epochs; new words that occur ``min_count`` times in it get rows, as do their parts. Returns self.

        Parameters: corpus and on_epoch as in `fit`; learning_rate, at the beginning, None for the one of the settings. ``counts_`` grow, and with
        them sampling and noise change. A Huffman tree cannot grow: with hierarchical softmax new words are left out and the tree stays. Before any
        `fit` it is one. Raises as `fit`.
        """
        self._check_settings()
        rate = float(self.learning_rate) if learning_rate is None else check_float("learning_rate", learning_rate, low=0.0, open_low=True)
        if not hasattr(self, "vectors_"):
            return self.fit(corpus, on_epoch=on_epoch)
        self._check_same_shape()
        reading = read_with(corpus, self.vectors_.tokens, min_count=self.min_count, grow=not self._tree)
        with all_or_nothing(self):
            if not self._tree:
                more = len(reading.tokens) - len(self.vectors_)
                self.counts_ = np.concatenate([self.counts_, np.zeros(more, dtype=np.int64)]) + reading.counts
            self._run = Run(rate, fingerprint(reading.offsets, reading.words), before=self._run.epochs_done, history=self._run.history)
            go_on = self._prepared(reading)
        go_on(on_epoch=on_epoch)
        return self

    def resume(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` or `partial_fit` that was interrupted, also after `load`; bitwise as if it had not been (``deterministic``). Returns self.

        Parameters: corpus, the same as before; on_epoch as in `fit`. A finished run is left as it is. Raises NotFittedError, ValueError for another
        corpus or settings of another shape.
        """
        self._check_fitted("vectors_")
        self._check_settings()
        self._check_same_shape()
        if self._run.epoch < self.epochs:
            reading = read_with(corpus, self.vectors_.tokens, min_count=self.min_count, grow=False)
            check_same_text(reading, self._run)
            self._prepared(reading)(on_epoch=on_epoch)
        return self

    def _check_same_shape(self) -> None:
        if self.dim != self.vectors_.dim or len(self.output_) != len(self.vectors_) - self._tree or self._parts != self._parts_of_fit:
            raise ValueError(f"dim={self.dim}, objective={self.objective!r}, (min_n, max_n, buckets)={self._parts} differ from those of the fit "
                             f"({self.vectors_.dim} columns, {len(self.output_)} output rows for {len(self.vectors_)} words, {self._parts_of_fit}); "
                             "fit anew")

    def _own(self, buckets: np.ndarray, word_rows: np.ndarray, ngram_rows: np.ndarray, output: np.ndarray) -> None:
        """Keep what was learned; ``_sorted`` finds the row of a bucket."""
        self.buckets_, self.word_rows_, self.ngram_rows_, self.output_ = buckets, word_rows, ngram_rows, output
        order = np.argsort(buckets)
        self._sorted, self._parts_of_fit = (buckets[order], order), self._parts

    def _grow(self, reading: Reading, bounds: np.ndarray, numbers: np.ndarray) -> None:
        """Rows for words and buckets that are new; the buckets that the text meets most often lie together."""
        new = self._rows_of(numbers) < 0
        met = np.repeat(reading.counts, np.diff(bounds))[new]
        fresh, which = np.unique(numbers[new], return_inverse=True)
        fresh = fresh[np.argsort(-np.bincount(which, weights=met, minlength=len(fresh)), kind="stable")]
        former, n_words = len(self.word_rows_), len(reading.tokens)
        rng = generator(int(self.seed) + former)
        added = [drawn_rows(rng, n, self.dim, reach=1.0) for n in (n_words - former, len(fresh))]
        outputs = np.zeros((n_words - self._tree - len(self.output_), self.dim), dtype=np.float32)
        self._own(np.concatenate([self.buckets_, fresh]), np.concatenate([self.word_rows_, added[0]]),
                  np.concatenate([self.ngram_rows_, added[1]]), np.concatenate([self.output_, outputs]))

    def _prepared(self, reading: Reading) -> Callable[..., None]:
        """Lay out what training needs, show where it begins, and return what does the parts of the run that are left."""
        from ..kernels import SubwordState, subword_update

        bounds, numbers = ngram_buckets(reading.tokens, min_n=self.min_n, max_n=self.max_n, buckets=self.buckets)
        self._grow(reading, bounds, numbers)
        lists = self._lists(bounds, numbers)
        state = SubwordState(reading.words, reading.offsets, np.concatenate([self.word_rows_, self.ngram_rows_]), self.output_, self.counts_,
                             sample=self.sample, noise_exponent=self.noise_exponent, rows=lists[1], row_offsets=lists[0])
        key, every = int(generator(self.seed).integers(1 << 62)), 1 if len(reading.words) <= SHORT else 16

        def update(rates: tuple[float, float], epochs_done: int, pieces: tuple[int, int]) -> tuple[float, int]:
            return subword_update(state, architecture=self.architecture, objective=self.objective, window=self.window, negatives=self.negatives,
                                  learning_rate=rates, share_error=self.share_error, loss_every=every, seed=key, epoch=epochs_done,
                                  pieces=pieces, threads=self.threads, deterministic=self.deterministic)

        def hand_over() -> None:
            inputs, n = state.inputs[:, : self.dim].numpy(), len(reading.tokens)
            self._own(self.buckets_, inputs[:n].copy(), inputs[n:].copy(), state.outputs[:, : self.dim].numpy().copy())
            self.vectors_, self.history_ = self._composed(reading.tokens, lists), np.array(self._run.history, dtype=np.float64)

        hand_over()
        return partial(passes, self, state, update, hand_over, least_rate=0.0)

    # -------------------------------------------------------------------------------------------- words and their rows

    def _rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """The row of ``ngram_rows_`` for each bucket, -1 where no word of the vocabulary has it."""
        sorted_buckets, order = self._sorted
        if len(order) == 0:
            return np.full(len(numbers), -1)
        at = np.minimum(np.searchsorted(sorted_buckets, numbers), len(order) - 1)
        return np.where(sorted_buckets[at] == numbers, order[at], -1)

    def _lists(self, bounds: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each word of the vocabulary its rows among those of words and n-grams together: bounds and numbers."""
        n_words = len(bounds) - 1
        rows = np.insert(self._rows_of(numbers) + n_words, bounds[:-1], np.arange(n_words))
        return bounds + np.arange(n_words + 1), rows

    def _composed(self, tokens: list[str], lists: tuple[np.ndarray, np.ndarray]) -> WordVectors:
        return WordVectors(tokens, _means(np.concatenate([self.word_rows_, self.ngram_rows_]), *lists), name=self.name)

    def vectors_for(self, words: Sequence[str]) -> np.ndarray:
        """The vectors of words, of which any may be unseen: (n, dim) float32.

        A word outside of the vocabulary is the mean of the rows of its n-grams; those whose bucket nothing has been learned in are left out. Raises
        TypeError, NotFittedError, UnknownWord that names all words without any such n-gram.
        """
        self._check_fitted("vectors_")
        words = [words] if isinstance(words, str) else list(words)
        low, high, buckets = self._parts_of_fit
        bounds, numbers = ngram_buckets(words, min_n=low, max_n=high, buckets=buckets)
        rows = self._rows_of(numbers)
        known = np.concatenate([[0], np.cumsum(rows >= 0)])[bounds]
        missing = [word for word, n in zip(words, np.diff(known), strict=True) if n == 0 and word not in self.vectors_]
        if missing:
            self.vectors_.ids(missing)              # raises, with words that look like it
        found = _means(self.ngram_rows_, known, rows[rows >= 0])
        for i, word in enumerate(words):
            if word in self.vectors_:
                found[i] = self.vectors_[word]
        return found

    def vector(self, word: str) -> np.ndarray:
        """The vector of a word, seen or not: (dim,) float32. Raises as `vectors_for`."""
        return self.vectors_for([word])[0]

    def nearest(self, word: str, *, topn: int = 10) -> list[tuple[str, float]]:
        """The words of the vocabulary with the highest cosine to a word, seen or not. Returns (word, cosine) pairs. Raises as `vectors_for`."""
        self._check_fitted("vectors_")
        return self.vectors_.most_similar(word if word in self.vectors_ else self.vector(word), topn=topn)

    # -------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder, from which training can go on; only rows that exist are written.

        Raises NotFittedError, OSError, ValueError (settings not of the fit).
        """
        from ..text.string_table import Strings

        self._check_fitted("vectors_")
        self._check_settings()                      # what is saved must be what load accepts
        self._check_same_shape()
        strings = Strings.of(self.vectors_.tokens)
        arrays = {"word_rows": self.word_rows_, "ngram_rows": self.ngram_rows_, "buckets": self.buckets_, "outputs": self.output_,
                  "counts": self.counts_, "history": self.history_, "token_bytes": strings.arena, "token_offsets": strings.offsets}
        settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.get_params().items()}
        save_model(path, "FastText", settings=settings, arrays=arrays, extra={"run": self._run.saved()})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a model that `save` wrote. Raises FileNotFoundError, DamagedFile, ValueError (a newer format)."""
        settings, arrays, extra = load_model(path, "FastText")
        try:
            model = cls(**settings)
            model._check_settings()
            model._restore(path, arrays)
            model._run = Run.loaded(extra["run"], model.history_)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a FastText that this version cannot read ({error}). Save the model again") from error
        return model

    def _restore(self, path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
        from ..counts.encoding import loaded_array
        from ..text.string_table import Strings

        tokens = Strings.checked(arrays["token_bytes"], arrays["token_offsets"], name="token_offsets").to_list()
        n, g = len(tokens), len(arrays["buckets"])
        self._own(loaded_array(path, arrays, "buckets", shape=(g,), kind="i"), loaded_array(path, arrays, "word_rows", shape=(n, self.dim)),
                  loaded_array(path, arrays, "ngram_rows", shape=(g, self.dim)),
                  loaded_array(path, arrays, "outputs", shape=(n - self._tree, self.dim)))
        self.counts_, self.history_ = loaded_array(path, arrays, "counts", shape=(n,), kind="i"), arrays["history"]
        bounds, numbers = ngram_buckets(tokens, min_n=self.min_n, max_n=self.max_n, buckets=self.buckets)
        if (self._rows_of(numbers) < 0).any() or (np.diff(self._sorted[0]) == 0).any():
            raise ValueError("buckets do not fit the words")
        self.vectors_ = self._composed(tokens, self._lists(bounds, numbers))


def _means(rows: np.ndarray, bounds: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Means of lists of rows, zero for an empty list: (n, dim) float32."""
    import torch

    parts = torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64)), torch.from_numpy(np.ascontiguousarray(bounds[:-1]))
    return torch.nn.functional.embedding_bag(parts[0], torch.from_numpy(rows), parts[1], mode="mean").numpy()
