"""What a window update changes and what it needs to know: two matrices of rows, the text, and how likely each word is kept and drawn.

Rows are float32, padded to a multiple of sixteen columns and begun at multiples of 64 bytes; the new columns hold zeros and stay zero. Long documents
are cut into pieces of at most 10 000 tokens, over whose borders no window reaches. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import check_array, check_float, check_int, shown
from ..lda_sweep.state import padded
from .draws import alias_table
from .huffman import Paths, huffman_paths

__all__ = ["PIECE", "Settings", "WindowState", "cut", "on_host", "pieces_per_document", "whole"]

PIECE = 10_000                                  # tokens


@dataclass(frozen=True)
class Settings:
    """How the windows are drawn and learned from; checked and completed by `window_update`. ``rates``: at the first and after the last token."""

    cbow: bool
    hierarchical: bool
    window: int
    negatives: int
    rates: tuple[float, float]
    share_error: bool
    loss_every: int
    seed: int
    epoch: int
    pieces: tuple[int, int]
    threads: int
    deterministic: bool


@dataclass
class WindowState:
    """The model and the text of a window update; `window_update` changes ``inputs`` and ``outputs`` in place.

    Parameters: words, (n,) word numbers, document after document; offsets, (d + 1,), document i is ``words[offsets[i]:offsets[i + 1]]``; inputs,
    (V, d) and outputs, (rows, d) to begin with, copied: a row of ``outputs`` for each word with negative sampling, one for each of the V − 1 inner
    nodes of the tree with hierarchical softmax; counts, (V,) how often each word occurs, which decides sampling, noise and tree; sample, threshold
    of subsampling, 0 for none; noise_exponent, power of the counts in the noise; device, of ``inputs`` and ``outputs``: on a GPU the kernel trains.
    Attributes: those, with ``inputs`` and ``outputs`` padded float32; ``pieces`` (p + 1,) int64, bounds of the pieces; ``keep`` (V,) int64,
    probabilities times 2^31; ``thresholds`` and ``others``, the alias table of the noise; ``paths``, the Huffman tree (built when first asked for).
    Raises TypeError, ValueError.
    """

    words: Any
    offsets: Any
    inputs: Any
    outputs: Any
    counts: Any
    sample: float = 1e-3
    noise_exponent: float = 0.75
    device: Any = field(default="cpu", kw_only=True)
    dim: int = field(init=False)

    def __post_init__(self) -> None:
        check_float("sample", self.sample, low=0.0)
        check_float("noise_exponent", self.noise_exponent)
        self.words, self.offsets = whole("words", self.words, np.int32), whole("offsets", self.offsets, np.int64)
        self.inputs, self.outputs = _tensor("inputs", self.inputs), _tensor("outputs", self.outputs)
        self.counts = np.asarray(self.counts, dtype=np.float64)
        self._check()
        self.dim = self.inputs.shape[1]
        self.inputs, self.outputs = (padded(x.float().to(self.device)) for x in (self.inputs, self.outputs))
        if not (torch.isfinite(self.inputs).all() and torch.isfinite(self.outputs).all()):
            raise ValueError("inputs or outputs hold NaN, infinity or numbers beyond float32; expected finite numbers up to 3.4e+38")
        self.pieces = cut(self.offsets)
        self.keep = _kept(self.counts, self.sample)
        self.thresholds, self.others = alias_table(_noise(self.counts, self.noise_exponent))
        self._paths: Paths | None = None

    def _check(self) -> None:
        n_words, n, bounds = len(self.counts), len(self.words), self.offsets
        check_int("number of words", n_words, low=2)
        if self.counts.ndim != 1 or not (np.isfinite(self.counts).all() and (self.counts >= 0).all() and self.counts.sum() > 0):
            raise ValueError(f"counts={shown(self.counts)} are wrong; expected {n_words} numbers >= 0, not all 0")
        if bounds.ndim != 1 or len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) < 0).any():
            raise ValueError(f"offsets={shown(bounds)} are wrong; expected whole numbers that begin with 0, never fall and end with {n}")
        if n and not 0 <= self.words.min() <= self.words.max() < n_words:
            raise ValueError(f"words reach from {self.words.min()} to {self.words.max()}; expected ints in [0, {n_words - 1}]")
        self._check_shapes(n_words)

    def _check_shapes(self, n_inputs: int) -> None:
        shapes = tuple(tuple(x.shape) for x in (self.inputs, self.outputs))
        if any(len(s) != 2 or s[1] < 1 for s in shapes) or shapes[0][0] != n_inputs or shapes[0][1] != shapes[1][1]:
            raise ValueError(f"inputs has shape {shapes[0]}, outputs {shapes[1]}; expected ({n_inputs}, d) and (rows, d)")

    @property
    def paths(self) -> Paths:
        """The Huffman path of every word."""
        if self._paths is None:
            self._paths = huffman_paths(self.counts)
        return self._paths

    @property
    def n_pieces(self) -> int:
        """Number of pieces of text; a call may work on a part of them."""
        return len(self.pieces) - 1


def on_host(work: Callable[..., tuple[float, int]], inputs: Tensor, outputs: Tensor, state: WindowState, how: Settings) -> tuple[float, int]:
    """``work`` on copies in the processor's memory, which are then copied back."""
    copies = padded(inputs.cpu()), padded(outputs.cpu())
    found = work(*copies, state, how)
    inputs.copy_(copies[0])
    outputs.copy_(copies[1])
    return found


def pieces_per_document(offsets: np.ndarray) -> np.ndarray:
    """How many pieces each document is cut into, at least one."""
    return np.maximum(1, -(-np.diff(offsets) // PIECE))


def cut(offsets: np.ndarray) -> np.ndarray:
    """Bounds of pieces: those of the documents, and within long ones every `PIECE` tokens."""
    n = pieces_per_document(offsets)
    if (n == 1).all():
        return offsets
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return np.append(np.repeat(offsets[:-1], n) + within * PIECE, offsets[-1])


def whole(name: str, values: Any, kind: type) -> np.ndarray:
    """Whole numbers on one axis as a type that holds them, without a copy where none is needed. Raises TypeError, ValueError."""
    found = np.asarray(values)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise TypeError(f"{name}={shown(found)} has shape {found.shape} of {found.dtype}; expected whole numbers on one axis")
    limits = np.iinfo(kind)
    if len(found) and not limits.min <= found.min() <= found.max() <= limits.max:
        raise ValueError(f"{name} reach from {found.min()} to {found.max()}; expected numbers within {limits.dtype}")
    return np.ascontiguousarray(found, dtype=kind)


def _tensor(name: str, values: Any) -> Tensor:
    """Real numbers of two axes as a tensor, copied only where torch would not have them as they lie. Raises TypeError, ValueError."""
    if isinstance(values, Tensor):
        if values.dtype.is_complex:
            raise TypeError(f"{name} has dtype {values.dtype}; expected real numbers")
        return values.detach()
    found = check_array(name, values)
    plain = found.flags.writeable and found.dtype.isnative and min(found.strides) >= 0
    return torch.from_numpy(found if plain else np.array(found, dtype=found.dtype.newbyteorder("="), order="C"))


def _noise(counts: np.ndarray, exponent: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        found = np.where(counts > 0, np.maximum(counts, 1e-300) ** exponent, 0.0)
        total = found.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"noise_exponent={exponent:g} makes the noise of {len(counts):,} words sum to {total:g}; use one between -1 and 1")
    return found


def _kept(counts: np.ndarray, sample: float) -> np.ndarray:
    """min(1, √(t / f) + t / f) times 2^31: the rule of the original program, a little milder than that of the paper."""
    ratio = sample / np.maximum(counts / counts.sum(), 1e-300) if sample > 0 else np.full(len(counts), 4.0)
    return np.rint(np.minimum(1.0, np.sqrt(ratio) + ratio) * 2.0**31).astype(np.int64)
