"""word2vec: two vectors per word, trained to tell context words from negative samples.

Skip-gram predicts the context from the centre word, CBOW the centre word from the mean of its
context. The prediction is a few yes-or-no questions instead of a softmax over all words, against
negative samples or down a Huffman tree. The steps are compiled vector code
(`kernels.window_update`). Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core import BackendUnavailable, generator
from ..core.parameters import Choice
from ..vectors import WordVectors
from .encoded_corpus import EncodedCorpus
from .window_method import WindowMethod, random_rows

__all__ = ["Word2Vec"]


class Word2Vec(WindowMethod):
    """Word vectors by skip-gram or CBOW, with negative sampling or hierarchical softmax.

    ``learning_rate`` falls to a ten thousandth of itself. ``share_error`` matters to CBOW only.
    With ``device="cuda"`` programs race as threads do, so it needs ``deterministic=False``. One
    thread is bitwise reproducible. [mikolov2013distributed]

    Examples
    --------
    >>> model = Word2Vec(dim=4, min_count=1, epochs=2).fit([["a", "rose", "is", "a", "rose"]] * 20)
    >>> model.vectors_.matrix.shape
    (3, 4)
    """

    name = "word2vec"
    least_rate = 1e-4

    device = Choice("cpu", "cuda", doc="where the training runs")

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        super()._check_together(settings)
        if settings["device"] == "cuda" and settings["deterministic"]:
            raise ValueError("deterministic=True cannot hold with device='cuda', where programs "
                             "race. Use deterministic=False, or device='cpu'")

    def _check_machine(self) -> None:
        if self.device == "cuda":
            import torch

            if not torch.cuda.is_available():
                raise BackendUnavailable('device="cuda" cannot be used: PyTorch finds no CUDA '
                                         'device on this machine. Take device="cpu", the default')

    def _check_consistent(self) -> None:
        rows, columns = len(self.vectors_) - self._tree, self.vectors_.dim
        if self.dim != columns or len(self.output_) != rows:
            raise ValueError(f"dim={self.dim}, objective={self.objective!r} differ from those of "
                             f"the fit ({columns} columns, {len(self.output_)} output rows for "
                             f"{len(self.vectors_)} words); fit anew")

    def _begin(self, encoded: EncodedCorpus) -> None:
        n = len(encoded.tokens)
        rows = random_rows(generator(self.seed), n, self.dim, reach=0.5)
        self.vectors_ = WordVectors(encoded.tokens, rows, name=self.name)
        self.output_ = np.zeros((n - self._tree, self.dim), dtype=np.float32)

    def _extend(self, encoded: EncodedCorpus) -> None:
        former = len(self.vectors_)
        more = len(encoded.tokens) - former
        new = random_rows(generator(int(self.seed) + former), more, self.dim, reach=0.5)
        rows = np.concatenate([self.vectors_.matrix, new])
        self.vectors_ = WordVectors(encoded.tokens, rows, name=self.name)
        self.output_ = np.concatenate([self.output_, np.zeros((more, self.dim), dtype=np.float32)])

    def _state(self, encoded: EncodedCorpus) -> Any:
        from ..kernels import WindowState

        return WindowState(encoded.words, encoded.offsets, self.vectors_.matrix, self.output_,
                           self.counts_, sample=self.sample, noise_exponent=self.noise_exponent,
                           device=self.device)

    def _update(self) -> Callable[..., tuple[float, int]]:
        from ..kernels import window_update

        return window_update

    def _hand_over(self, state: Any, encoded: EncodedCorpus) -> None:
        rows = state.inputs[:, : self.dim].cpu().numpy().copy()
        self.vectors_ = WordVectors(encoded.tokens, rows, name=self.name)
        self.output_ = state.outputs[:, : self.dim].cpu().numpy().copy()
