"""What methods that learn from windows over a text have in common: settings, and a run.

A run goes over the text in parts, can be interrupted anywhere, saved, and resumed to the same bits.
Used by the methods of lessons ``04_word2vec``, ``05_glove_and_fasttext`` and ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ..core import check_memory, check_rate, generator
from ..core.estimator import SavedEstimator
from ..core.learned import Array
from ..core.parameters import Choice, Count, Flag, Float, Int, Rate, Seed, Threads
from ..core.run import Run, RunState, all_or_nothing, run_through
from ..vectors.word_vectors import LearnedVectors
from .encoded_corpus import EncodedCorpus, encode_corpus, encode_more

__all__ = ["WindowMethod", "grown_counts", "random_rows"]

TOKENS_PER_PART = 2_000_000     # about a second
SHORT = 100_000                 # tokens; of longer texts the loss of one window in sixteen is noted


class WindowMethod(SavedEstimator):
    """Settings, learned state and training of `Word2Vec`, `FastText` and `sentences.Doc2Vec`.

    A subclass writes ``_begin`` and ``_extend`` (random initialisation), ``_state`` (what the
    kernel works on), ``_update`` (the kernel) and ``_hand_over``.
    """

    dim = Int(100, "columns of a vector", positional=1)
    window = Int(5, "widest half width: each window draws its own from 1 to this", high=1000)
    architecture = Choice("skip_gram", "cbow", doc="predict the context from the centre word, or "
                                                   "the centre word from its context")
    objective = Choice("negative_sampling", "hierarchical_softmax",
                       doc="against negative samples, or down a Huffman tree")
    negatives = Int(5, "negative samples of a window, for all its contexts", low=0, high=255,
                    remedy="Without samples: objective='hierarchical_softmax'")
    min_count = Int(5, "words that are rarer are left out")
    sample = Float(1e-3, "threshold t of subsampling, 0 for none: a word of frequency f stays with "
                         "probability √(t/f) + t/f", low=0)
    noise_exponent = Float(0.75, "power of the counts in the distribution of negative samples")
    epochs = Count(5)
    learning_rate = Rate(0.025, "at the beginning; it falls along a straight line")
    threads = Threads(1)
    deterministic = Flag(True, "on several threads: bitwise the same for equal settings, at the "
                               "price of learning less in each epoch; else threads race")
    seed = Seed()
    share_error = Flag(False, "each input row gets its share of the error, the gradient proper, "
                              "instead of the whole as in the original program")
    progress = Flag(False, "show a bar")

    vectors_ = LearnedVectors(file="inputs", doc="one vector for each word")
    output_ = Array("outputs", "dim", file="outputs", doc="rows of words, or of inner nodes")
    counts_ = Array("tokens", dtype="int64", file="counts", doc="how often each word occurred")
    _run = RunState()

    least_rate = 0.0            # of the first: where the line of falling learning rates ends

    @property
    def history_(self) -> np.ndarray:
        """Mean negative log-likelihood per pair of input and target in each epoch.

        NaN where nothing was noted. Shape (epochs,) float64.
        """
        return np.array(self._run.history, dtype=np.float64)

    @property
    def _tree(self) -> bool:
        return self.objective == "hierarchical_softmax"

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        if settings["objective"] == "negative_sampling" and settings["negatives"] == 0:
            raise ValueError("negatives=0 is out of range with objective='negative_sampling'; "
                             "expected int in [1, 255]. Without samples: "
                             "objective='hierarchical_softmax'")

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self.vectors_.name = self.name

    def _check_machine(self) -> None:
        """Raise BackendUnavailable where a device that the settings name is not here."""

    # ------------------------------------------------------------------------------ learning

    def fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn from the beginning.

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
            Settings, another kind of data, no word or only one left.
        TrainingDiverged
            The vectors are then the last ones that were finite.
        """
        self._check_settings()
        self._check_machine()
        return self._fit(encode_corpus(corpus, min_count=self.min_count), on_epoch)

    def partial_fit(self, corpus: Any, *, learning_rate: float | None = None,
                    on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with more text for ``epochs`` epochs; before any `fit` it is one.

        Words that occur ``min_count`` times in it and are new get vectors; ``counts_`` grow, and
        with them sampling. A Huffman tree cannot grow: with hierarchical softmax new words are left
        out and the tree stays.

        Parameters
        ----------
        corpus, on_epoch
            As in `fit`.
        learning_rate : float > 0, optional
            At the beginning; None for the one of the settings.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError, TrainingDiverged
            As `fit`; ValueError also for settings of another shape.
        """
        rate = self._checked_rate(learning_rate)
        if not hasattr(self, "vectors_"):
            return self.fit(corpus, on_epoch=on_epoch)
        self._check_consistent()
        encoded = encode_more(corpus, self.vectors_.tokens, min_count=self.min_count,
                              grow=not self._tree)
        return self._partial_fit(encoded, rate, on_epoch)

    def resume(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` or `partial_fit` that was interrupted, also after `load`.

        The result is bitwise that of an uninterrupted run (``deterministic``). A finished run is
        left as it is.

        Parameters
        ----------
        corpus, on_epoch
            The same corpus as before; on_epoch as in `fit`.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Another corpus, or settings of another shape.
        """
        if self._is_left():
            self._resume(encode_more(corpus, self.vectors_.tokens, min_count=self.min_count,
                                     grow=False), on_epoch)
        return self

    def _checked_rate(self, learning_rate: float | None) -> float:
        """The learning rate of further training, after a look at all settings."""
        self._check_settings()
        self._check_machine()
        rate = self.learning_rate if learning_rate is None else learning_rate
        return check_rate("learning_rate", rate)

    def _is_left(self) -> bool:
        """Whether the run is not done, after a look at the settings."""
        self._check_fitted("vectors_")
        self._check_settings()
        self._check_machine()
        self._check_consistent()
        return self._run.epoch < self.epochs

    def _fit(self, encoded: EncodedCorpus, on_epoch: Callable[[Self], object] | None) -> Self:
        with all_or_nothing(self):
            self._check_memory(encoded, 0)
            self.counts_ = encoded.counts
            self._run = Run(float(self.learning_rate), encoded.fingerprint)
            self._begin(encoded)
            state = self._state(encoded)
            self._hand_over(state, encoded)
        return self._train(encoded, state, on_epoch)

    def _partial_fit(self, encoded: EncodedCorpus, rate: float,
                     on_epoch: Callable[[Self], object] | None) -> Self:
        with all_or_nothing(self):
            if not self._tree:
                self.counts_ = grown_counts(self.counts_, encoded)
            self._run = self._run.another(rate, encoded.fingerprint)
            self._check_memory(encoded, 0)
            self._extend(encoded)
            state = self._state(encoded)
            self._hand_over(state, encoded)
        return self._train(encoded, state, on_epoch)

    def _resume(self, encoded: EncodedCorpus, on_epoch: Callable[[Self], object] | None) -> None:
        self._check_same_text(encoded)
        self._train(encoded, self._state(encoded), on_epoch)

    def _check_same_text(self, encoded: EncodedCorpus) -> None:
        """Raise ValueError unless the text is that of the run."""
        if encoded.fingerprint != self._run.text:
            raise ValueError(f"corpus has {len(encoded.offsets) - 1:,} documents and "
                             f"{len(encoded.words):,} known tokens that are not those of the "
                             "interrupted run, or in another order or with other tags; resume "
                             "needs its corpus. For more text: partial_fit")

    def _train(self, encoded: EncodedCorpus, state: Any,
               on_epoch: Callable[[Self], object] | None) -> Self:
        """Do what is left of the run, in parts of about two million tokens."""
        update, options, epochs, starts = self._update(), self._options(), self.epochs, state.pieces
        n = max(1, -(-int(starts[-1]) // TOKENS_PER_PART))
        cuts = np.searchsorted(starts, starts[-1] * np.arange(1, n) // n).tolist()
        parts = list(pairwise([0, *cuts, len(starts) - 1]))
        every = 1 if starts[-1] <= SHORT else 16

        def learn(run: Run, part: tuple[int, int]) -> tuple[float, int]:
            rates = tuple(max(run.rate * (1 - done / epochs), run.rate * self.least_rate)
                          for done in (run.epoch, run.epoch + 1))
            return update(state, learning_rate=rates, epoch=run.epochs_done, pieces=part,
                          loss_every=every, threads=self.threads,
                          deterministic=self.deterministic, **options)

        run_through(self, parts, learn, tensors=(state.inputs, state.outputs),
                    hand_over=lambda: self._hand_over(state, encoded), on_epoch=on_epoch,
                    unit=" tokens", usual_rate=0.025,
                    size=lambda part: int(starts[part[1]] - starts[part[0]]))
        return self

    def _options(self) -> dict[str, Any]:
        """What the kernel is told beside rates, epoch, parts and threads."""
        return {"architecture": self.architecture, "objective": self.objective,
                "window": self.window, "negatives": self.negatives,
                "share_error": self.share_error,
                "seed": int(generator(self.seed).integers(1 << 62))}

    _width = 1                  # of a row of outputs, in rows of inputs

    def _check_memory(self, encoded: EncodedCorpus, more: int) -> None:
        """Raise MemoryError for matrices that cannot fit, with ``more`` rows of inputs than words.

        Inputs and outputs are kept three times: in the model, in the kernel's state, and as they
        were before the part that is learned; further threads have copies of their own.
        """
        words = len(encoded.tokens)
        copies = 3 if getattr(self, "device", "cpu") == "cpu" else 1        # else on the GPU
        copies += self.threads if self.threads > 1 and self.deterministic else 0
        rows = words + more + (words - self._tree) * self._width
        fewer = f", threads={self.threads}, or deterministic=False" if copies > 3 else ""
        check_memory(f"{copies} x {rows:,} rows of {self.dim:,} float32 numbers for {words:,} "
                     "words", 4 * copies * rows * int(self.dim),
                     f"Lower dim={self.dim}, or raise min_count={self.min_count}{fewer}")

    # ------------------------------------------------------------------------------ subclasses

    def _begin(self, encoded: EncodedCorpus) -> None:
        """Set the learned attributes as they are before the first step."""
        raise NotImplementedError

    def _extend(self, encoded: EncodedCorpus) -> None:
        """Add rows for what is new in the text."""
        raise NotImplementedError

    def _state(self, encoded: EncodedCorpus) -> Any:
        """The working state of the kernel."""
        raise NotImplementedError

    def _update(self) -> Callable[..., tuple[float, int]]:
        """The kernel that trains on the state."""
        raise NotImplementedError

    def _hand_over(self, state: Any, encoded: EncodedCorpus) -> None:
        """Copy what was learned so far from the state into the attributes that others see."""
        raise NotImplementedError


def random_rows(rng: np.random.Generator, n: int, dim: int, *, reach: float) -> np.ndarray:
    """Random initialisation: (n, dim) float32, uniform within ``reach`` / dim of 0."""
    uniform = rng.random((n, dim), dtype=np.float32) - np.float32(0.5)
    return uniform * np.float32(2 * reach / dim)


def grown_counts(counts: np.ndarray, encoded: EncodedCorpus) -> np.ndarray:
    """The counts of the words together with those of further text."""
    former = np.zeros(len(encoded.tokens), dtype=np.int64)
    former[: len(counts)] = counts
    return former + encoded.counts
