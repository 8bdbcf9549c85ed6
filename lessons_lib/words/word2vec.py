"""word2vec: two vectors per word, trained to tell the words that stand near each other from words drawn at random.

Skip-gram guesses the centre from each neighbour alone, CBOW from their mean; the guess is a few yes-or-no questions instead of a softmax over all
words, against noise (negative sampling) or down a Huffman tree (hierarchical softmax). The steps are compiled vector code
(`kernels.window_update`). Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from ..core import BackendUnavailable, DamagedFile, Estimator, check_choice, check_float, fingerprint, generator, load_model, save_model
from ..vectors import WordVectors
from .passes import SHORT, check_same_text, check_window_settings, drawn_rows, passes
from .reading import Reading, read, read_with
from .run import Run, all_or_nothing

__all__ = ["Word2Vec"]

LEAST_RATE = 1e-4                               # of the first: where the line of falling learning rates ends


class Word2Vec(Estimator):
    """Word vectors by skip-gram or CBOW, with negative sampling or hierarchical softmax.

    Parameters: dim; window, the widest half width: each window draws its own from 1 … window; architecture, "skip_gram" or "cbow"; objective,
    "negative_sampling" or "hierarchical_softmax"; negatives, noise words of a window, for all its contexts; min_count, words that are rarer are left
    out; sample, threshold of subsampling (0: none), a word of frequency f stays with probability √(t/f) + t/f; noise_exponent, power of the counts in
    the noise; epochs; learning_rate, at the beginning, from where it falls to a ten thousandth along a straight line; threads; deterministic,
    on several threads: bitwise the same for equal settings, at the price of learning less in each epoch, else threads write over each other; seed;
    share_error, CBOW only: each context gets its share of the error, the gradient proper, instead of the whole as in the original program; progress,
    show a bar; device, "cpu" or "cuda", where the kernel's programs race as threads do: it needs ``deterministic=False``.
    Learned: ``vectors_`` (`WordVectors`, the input vectors), ``output_`` (rows, dim) float32, of words or of inner nodes; ``counts_`` (V,) int64;
    ``history_`` (epochs,) float64, mean −log p per pair of input and window in each epoch, NaN where nothing was noted. One thread is bitwise
    reproducible. [mikolov2013distributed]

    >>> model = Word2Vec(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vectors_.matrix.shape
    (3, 4)
    """

    name = "word2vec"

    def __init__(self, dim: int = 100, *, window: int = 5, architecture: str = "skip_gram", objective: str = "negative_sampling", negatives: int = 5,
                 min_count: int = 5, sample: float = 1e-3, noise_exponent: float = 0.75, epochs: int = 5, learning_rate: float = 0.025,
                 threads: int = 1, deterministic: bool = True, seed: int = 0, share_error: bool = False, progress: bool = False,
                 device: str = "cpu"):
        self.dim, self.window, self.architecture, self.objective, self.negatives = dim, window, architecture, objective, negatives
        self.min_count, self.sample, self.noise_exponent, self.epochs = min_count, sample, noise_exponent, epochs
        self.learning_rate, self.threads, self.deterministic, self.seed = learning_rate, threads, deterministic, seed
        self.share_error, self.progress, self.device = share_error, progress, device

    def _check_settings(self, *, here: bool = True) -> None:
        check_window_settings(self)
        on_gpu = check_choice("device", self.device, ("cpu", "cuda")) == "cuda"
        if on_gpu and self.deterministic:
            raise ValueError("deterministic=True cannot hold with device='cuda', where programs race. Use deterministic=False, or device='cpu'")
        if on_gpu and here:
            import torch

            if not torch.cuda.is_available():
                raise BackendUnavailable('device="cuda" cannot be used: PyTorch finds no CUDA device on this machine. Take device="cpu", the default')

    @property
    def _tree(self) -> bool:
        return self.objective == "hierarchical_softmax"

    # -------------------------------------------------------------------------------------------- learning

    def fit(self, corpus: Any, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn from the beginning. Returns self.

        Parameters: corpus, a `text.Corpus` or a sequence of token lists; windows do not reach over the borders of documents; on_epoch, called with
        the model after each epoch, for example to save it. Raises TypeError or ValueError (settings, another kind of data, no or one word left),
        TrainingDiverged: the vectors are then the last ones that were sane. After Ctrl-C, too, the model holds what was learned; `resume` goes on.
        """
        self._check_settings()
        reading = read(corpus, min_count=self.min_count)
        rng, n = generator(self.seed), len(reading.tokens)
        inputs = drawn_rows(rng, n, self.dim, reach=0.5)
        with all_or_nothing(self):
            self.counts_, self._run = reading.counts, Run(float(self.learning_rate), fingerprint(reading.offsets, reading.words))
            go_on = self._prepared(reading, inputs, np.zeros((n - self._tree, self.dim), dtype=np.float32))
        go_on(on_epoch=on_epoch)
        return self

    def partial_fit(self, corpus: Any, *, learning_rate: float | None = None, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with more text for ``epochs`` epochs; words that occur ``min_count`` times in it and are new get vectors. Returns self.

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
        more = len(reading.tokens) - len(self.vectors_)
        inputs = np.concatenate([self.vectors_.matrix, drawn_rows(generator(int(self.seed) + len(self.vectors_)), more, self.dim, reach=0.5)])
        outputs = np.concatenate([self.output_, np.zeros((more, self.dim), dtype=np.float32)])
        with all_or_nothing(self):
            if not self._tree:
                self.counts_ = np.concatenate([self.counts_, np.zeros(more, dtype=np.int64)]) + reading.counts
            self._run = Run(rate, fingerprint(reading.offsets, reading.words), before=self._run.epochs_done, history=self._run.history)
            go_on = self._prepared(reading, inputs, outputs)
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
            self._prepared(reading, self.vectors_.matrix, self.output_)(on_epoch=on_epoch)
        return self

    def _check_same_shape(self) -> None:
        if self.dim != self.vectors_.dim or len(self.output_) != len(self.vectors_) - self._tree:
            raise ValueError(f"dim={self.dim}, objective={self.objective!r} differ from those of the fit ({self.vectors_.dim} columns, "
                             f"{len(self.output_)} output rows for {len(self.vectors_)} words); fit anew")

    def _prepared(self, reading: Reading, inputs: np.ndarray, outputs: np.ndarray) -> Callable[..., None]:
        """Lay out what training needs, show where it begins, and return what does the parts of the run that are left."""
        from ..kernels import WindowState, window_update

        state = WindowState(reading.words, reading.offsets, inputs, outputs, self.counts_, sample=self.sample, noise_exponent=self.noise_exponent,
                            device=self.device)
        key, every = int(generator(self.seed).integers(1 << 62)), 1 if len(reading.words) <= SHORT else 16

        def update(rates: tuple[float, float], epochs_done: int, pieces: tuple[int, int]) -> tuple[float, int]:
            return window_update(state, architecture=self.architecture, objective=self.objective, window=self.window, negatives=self.negatives,
                                 learning_rate=rates, share_error=self.share_error, loss_every=every, seed=key, epoch=epochs_done, pieces=pieces,
                                 threads=self.threads, deterministic=self.deterministic)

        hand_over = partial(self._hand_over, state, reading.tokens)
        hand_over()
        return partial(passes, self, state, update, hand_over, least_rate=LEAST_RATE)

    def _hand_over(self, state: Any, tokens: list[str]) -> None:
        """Copy what was learned so far from the working state into the attributes that others see."""
        self.output_ = state.outputs[:, : self.dim].cpu().numpy().copy()
        self.vectors_ = WordVectors(tokens, state.inputs[:, : self.dim].cpu().numpy().copy(), name=self.name)
        self.history_ = np.array(self._run.history, dtype=np.float64)

    # -------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder, from which training can go on. Raises NotFittedError, OSError, ValueError (settings not of the fit)."""
        from ..text.string_table import Strings

        self._check_fitted("vectors_")
        self._check_settings(here=False)            # what is saved must be what load accepts
        self._check_same_shape()
        strings = Strings.of(self.vectors_.tokens)
        arrays = {"inputs": self.vectors_.matrix, "outputs": self.output_, "counts": self.counts_, "history": self.history_,
                  "token_bytes": strings.arena, "token_offsets": strings.offsets}
        settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.get_params().items()}
        save_model(path, "Word2Vec", settings=settings, arrays=arrays, extra={"run": self._run.saved()})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a model that `save` wrote. Raises FileNotFoundError, DamagedFile, ValueError (a newer format)."""
        from ..counts.encoding import loaded_array
        from ..text.string_table import Strings

        settings, arrays, extra = load_model(path, "Word2Vec")
        try:
            model = cls(**settings)
            model._check_settings(here=False)
            tokens = Strings.checked(arrays["token_bytes"], arrays["token_offsets"], name="token_offsets").to_list()
            model.vectors_ = WordVectors(tokens, loaded_array(path, arrays, "inputs", shape=(len(tokens), model.dim)), name=cls.name)
            model.output_ = loaded_array(path, arrays, "outputs", shape=(len(tokens) - model._tree, model.dim))
            model.counts_ = loaded_array(path, arrays, "counts", shape=(len(tokens),), kind="i")
            model.history_ = arrays["history"]
            model._run = Run.loaded(extra["run"], model.history_)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a Word2Vec that this version cannot read ({error}). Save the model again") from error
        return model
