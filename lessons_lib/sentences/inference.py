"""Vectors of new documents: every trained weight stays as it is, and a fresh row learns to guess
the words of its document.

Start and draws of a document follow from its known words and the seed, so its vector is the same in
any company, in any order and on any number of threads. Taught in lesson ``07_doc2vec``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import TrainingDiverged
from .pooling import Pooling

if TYPE_CHECKING:
    from ..kernels import DocumentState

__all__ = ["Inference", "document_numbers", "start_rows"]

REACH = 0.5                                     # of start vectors
LARGEST = 1e3  # a coordinate beyond it belongs to a run that diverges
# odd: a word at another place in the document counts as another word
_STEP = np.uint64(0xD1342543DE82EF95)


def document_numbers(words: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """A number for each document that follows from its words and their order: (d,) uint64, 0 for no
    words."""
    from ..kernels.window_update.draws import mixed_numbers

    places = (np.arange(len(words), dtype=np.uint64) -
              np.repeat(offsets[:-1], np.diff(offsets)).astype(np.uint64))
    each = mixed_numbers(mixed_numbers(words.astype(np.uint64)) + places * _STEP)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)])
    return sums[offsets[1:]] - sums[offsets[:-1]]


def start_rows(numbers: np.ndarray, dim: int, seed: int) -> np.ndarray:
    """Start vectors (d, dim) float32, uniform within ``REACH`` / dim of 0, drawn by the documents'
    numbers."""
    from ..kernels.window_update.draws import GOLDEN, mixed_numbers

    columns = np.arange(1, dim + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    x = mixed_numbers(mixed_numbers(numbers + np.uint64(seed))[:, None] + columns)
    uniform = (x >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)
    return uniform * np.float32(2 * REACH / dim)


@dataclass(frozen=True)
class Inference(Pooling):
    """How documents are inferred: frozen weights in ``state``, settings of the kernel, epochs."""

    state: DocumentState
    settings: dict[str, Any]
    epochs: int
    rate: float

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `Pooling.of`."""
        from ..kernels import document_update

        rows = row_of[ids]
        known = rows >= 0
        offsets = np.concatenate([[0], np.cumsum(known)])[np.concatenate([[0], ends])]
        words, sizes = rows[known].astype(np.int32), np.diff(offsets)
        numbers = document_numbers(words, offsets)
        new = self.state.for_new(words, offsets,
                                 start_rows(numbers, self.vectors.dim, self.settings["seed"]),
                                 numbers)
        for epoch in range(self.epochs):
            # the same for the whole epoch: a document's place must not matter
            rate = self.rate * (1 - epoch / self.epochs)
            document_update(new, learning_rate=(rate, rate), epoch=epoch, frozen=True, loss_every=0,
                            **self.settings)
        result = new.documents[:, : self.vectors.dim].numpy().copy()
        result[sizes == 0] = 0.0
        if not np.abs(result).max(initial=0.0) < LARGEST:  # NaN is not smaller, either
            raise TrainingDiverged(f"inference diverged: a coordinate reached "
                                   f"{np.abs(result).max():g}. The model is as it was. Use a "
                                   f"smaller rate: learning_rate={self.rate / 10:.3g}, or 0.025")
        return result, sizes
