"""What updates of rows change and what they need to know: two matrices of rows, the text, how
likely each word is kept and drawn, and the settings of a pass, all checked.

Rows are padded (`rows.padded`) and the new columns stay zero. Long documents are cut into pieces of
at most 10 000 tokens, over whose borders no window reaches. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import (check_array, check_choice, check_float, check_int, check_rate, check_threads,
                     shown)
from ..contents import part, whole
from ..layout import ALIGNMENT, padded
from .draws import GOLDEN, alias_table, epoch_key, mixed_numbers
from .huffman import Paths, huffman_paths

__all__ = ["PIECE", "Settings", "WindowState", "check_sound", "checked_settings", "cut", "flag",
           "pieces_per_document"]

PIECE = 10_000  # tokens
WIDEST, MOST_NEGATIVES = 1000, 255


@dataclass(frozen=True)
class Settings:
    """How windows are drawn and learned from, checked by `checked_settings`.

    ``rates``: at the first and after the last token; ``combine``: how contexts become one input
    ("mean", "sum", "concat"), "" where each is an input by itself; ``neighbours``: whether words
    stand among the contexts; ``frozen``: only rows of documents move; ``subwords``: a word is a
    list of rows.
    """

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
    combine: str = ""
    neighbours: bool = True
    frozen: bool = False
    subwords: bool = False

    @property
    def draws(self) -> int:
        """The most negatives of a window, for which each token has numbers of its own."""
        return self.negatives * (2 * self.window if self.subwords and not self.cbow else 1)

    def noted(self, number: int) -> bool:
        """Whether the loss of a window is asked for, by the first number drawn for its centre."""
        return bool(self.loss_every) and number % 256 < 256 // self.loss_every


@dataclass
class WindowState:
    """The model and the text of a window update; `window_update` changes ``inputs`` and ``outputs``
    in place.

    Parameters
    ----------
    words : (n,) ints
        Word numbers, document after document.
    offsets : (d + 1,) ints
        Document i is ``words[offsets[i]:offsets[i + 1]]``.
    inputs, outputs : (V, d) and (rows, d) numbers, copied
        Rows to begin with. A row of ``outputs`` for each word with negative sampling, one for each
        of the V − 1 inner nodes of the tree with hierarchical softmax.
    counts : (V,) numbers >= 0
        How often each word occurs, which decides sampling, noise and tree.
    sample : float >= 0, default 1e-3
        Threshold of subsampling, 0 for none.
    noise_exponent : float, default 0.75
        Power of the counts in the noise.
    device : of ``inputs`` and ``outputs``, default "cpu"
        On a GPU the kernel trains.

    Attributes
    ----------
    inputs, outputs : padded float32 tensors
    pieces : (p + 1,) int64
        Bounds of the pieces of text.
    keep : (V,) int64
        Probabilities times 2^31.
    thresholds, others : (V,) int64, (V,) int32
        The alias table of the noise.
    paths : Paths
        The Huffman tree, built when first asked for.

    Raises
    ------
    TypeError, ValueError
        Wrong types, shapes, numbers that are not finite or out of range.
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
        self.words = whole("words", self.words, np.int32)
        self.offsets = whole("offsets", self.offsets, np.int64)
        self.inputs = _tensor("inputs", self.inputs)
        self.outputs = _tensor("outputs", self.outputs)
        self.counts = np.asarray(self.counts, dtype=np.float64)
        self._check()
        self.dim = self.inputs.shape[1]
        self.inputs = padded(self.inputs.float().to(self.device))
        self.outputs = padded(self.outputs.float().to(self.device))
        if not (torch.isfinite(self.inputs).all() and torch.isfinite(self.outputs).all()):
            raise ValueError("inputs or outputs hold NaN, infinity or numbers beyond float32; "
                             "expected finite numbers up to 3.4e+38")
        self.pieces = cut(self.offsets)
        self.keep = _kept(self.counts, self.sample)
        self.thresholds, self.others = alias_table(_noise(self.counts, self.noise_exponent))
        self._paths: Paths | None = None

    def _check(self) -> None:
        n_words, n, bounds = len(self.counts), len(self.words), self.offsets
        check_int("number of words", n_words, low=2)
        good = np.isfinite(self.counts).all() and (self.counts >= 0).all() and self.counts.sum() > 0
        if self.counts.ndim != 1 or not good:
            raise ValueError(f"counts={shown(self.counts)} are wrong; expected {n_words} numbers "
                             ">= 0, not all 0")
        if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != n or (np.diff(bounds) < 0).any():
            raise ValueError(f"offsets={shown(bounds)} are wrong; expected whole numbers that "
                             f"begin with 0, never fall and end with {n}")
        if n and not 0 <= self.words.min() <= self.words.max() < n_words:
            raise ValueError(f"words reach from {self.words.min()} to {self.words.max()}; expected "
                             f"ints in [0, {n_words - 1}]")
        self._check_shapes(n_words)

    def _check_shapes(self, n_inputs: int) -> None:
        a, b = tuple(self.inputs.shape), tuple(self.outputs.shape)
        if not (len(a) == len(b) == 2 and a[0] == n_inputs and a[1] == b[1] >= 1):
            raise ValueError(
                f"inputs has shape {a}, outputs {b}; expected ({n_inputs}, d) and (rows, d)")

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

    def keys(self, how: Settings) -> np.ndarray:
        """The keys of the draws of the text that a pass works on.

        Parameters
        ----------
        how : Settings

        Returns
        -------
        (n,) uint64
        """
        return self._keys(how, np.arange(*how.pieces, dtype=np.uint64))

    @staticmethod
    def _keys(how: Settings, numbers: np.ndarray) -> np.ndarray:
        start = np.uint64(epoch_key(how.seed, how.epoch))
        return mixed_numbers(start + numbers * np.uint64(GOLDEN))


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


def _tensor(name: str, values: Any) -> Tensor:
    """Real numbers of two axes as a tensor, copied only where torch would not have them as they
    lie. Raises TypeError, ValueError."""
    if isinstance(values, Tensor):
        if values.dtype.is_complex:
            raise TypeError(f"{name} has dtype {values.dtype}; expected real numbers")
        return values.detach()
    x = check_array(name, values)
    if not (x.flags.writeable and x.dtype.isnative and min(x.strides) >= 0):
        x = np.array(x, dtype=x.dtype.newbyteorder("="), order="C")
    return torch.from_numpy(x)


def _noise(counts: np.ndarray, exponent: float) -> np.ndarray:
    """counts^exponent, 0 where a word never occurs."""
    with np.errstate(over="ignore"):
        weights = np.where(counts > 0, np.maximum(counts, 1e-300)**exponent, 0.0)
        total = weights.sum()
    if not 0 < total < np.inf:
        raise ValueError(f"noise_exponent={exponent:g} makes the noise of {len(counts):,} words "
                         f"sum to {total:g}; use one between -1 and 1")
    return weights


def _kept(counts: np.ndarray, sample: float) -> np.ndarray:
    """min(1, √(t / f) + t / f) times 2^31: the rule of the original program, a little milder than
    that of the paper."""
    if sample == 0:
        return np.full(len(counts), 2**31, np.int64)
    ratio = sample / np.maximum(counts / counts.sum(), 1e-300)
    return np.rint(np.minimum(1.0, np.sqrt(ratio) + ratio) * 2.0**31).astype(np.int64)


def flag(name: str, value: Any) -> bool:
    """True or False, also of NumPy. Raises TypeError."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected True or False")
    return bool(value)


def checked_settings(state: WindowState, *, architecture: str, objective: str, window: int,
                     negatives: int, learning_rate: float | tuple[float, float], share_error: bool,
                     loss_every: int, seed: int, epoch: int, pieces: tuple[int, int] | None,
                     threads: int, deterministic: bool, **more: Any) -> Settings:
    """Settings as the implementations take them; ``more`` as it is. Raises TypeError, ValueError;
    also where the state's outputs have too few rows for them."""
    kinds = ("negative_sampling", "hierarchical_softmax")
    tree = check_choice("objective", objective, kinds) == "hierarchical_softmax"
    cbow = check_choice("architecture", architecture, ("skip_gram", "cbow")) == "cbow"
    how = Settings(cbow=cbow, hierarchical=tree, window=check_int("window", window, high=WIDEST),
                   negatives=0 if tree else check_int("negatives", negatives, high=MOST_NEGATIVES),
                   rates=_rates(learning_rate), share_error=flag("share_error", share_error),
                   loss_every=check_int("loss_every", loss_every, low=0, high=256),
                   seed=check_int("seed", seed, low=0, high=2**63 - 1),
                   epoch=check_int("epoch", epoch, low=0, high=2**31 - 1),
                   pieces=part("pieces", pieces, state.n_pieces),
                   threads=check_threads(threads),
                   deterministic=flag("deterministic", deterministic),
                   **{"combine": "mean" if cbow else "", **more})
    rows, needed = len(state.outputs), len(state.counts) - tree
    if rows < needed:
        what = "inner node" if tree else "word"
        raise ValueError(f"outputs has {rows} rows; expected {needed}, one for each {what}")
    return how


def _rates(learning_rate: float | tuple[float, float]) -> tuple[float, float]:
    """Both ends of the line of learning rates."""
    both = learning_rate
    if not (isinstance(both, (tuple, list)) and len(both) == 2):
        both = (learning_rate, learning_rate)
    first = check_rate("learning_rate", both[0])
    return first, check_float("learning_rate", both[1], low=0.0)


def check_sound(state: WindowState, pieces: tuple[int, int], *, rows: int, parts: int = 1) -> None:
    """Check what compiled loops take on trust, because numbers become addresses there: arrays may
    have been changed since the state was made.

    ``pieces``: first and last + 1 of those that will be worked on; others are not looked at;
    ``rows``: how many inputs there must be at least; ``parts``: how many times as wide as an input
    an output is. Raises ValueError.
    """
    width, n_words = state.inputs.shape[-1], len(state.counts)
    bounds = state.pieces[pieces[0]:pieces[1] + 1]
    for name, columns in (("inputs", width), ("outputs", parts * width)):
        x = getattr(state, name)
        shaped = x.ndim == 2 and x.shape[1] == columns and width % ALIGNMENT == 0
        if x.dtype != torch.float32 or not shaped or not x.is_contiguous():
            raise ValueError(
                f"state.{name} has become {x.dtype} of shape {tuple(x.shape)}; expected contiguous "
                f"float32 rows, padded to a multiple of {ALIGNMENT}. Write into it: "
                f"state.{name}[:, :state.dim] = …, or make a new state")
    lengths, words = np.diff(bounds), state.words[max(0, bounds[0]):bounds[-1]]
    whole_text = words.dtype == np.int32 and words.ndim == 1 and len(words) == lengths.sum()
    if not whole_text or (lengths < 0).any() or (lengths > PIECE).any():
        raise ValueError(f"state.words or state.pieces was changed: {len(state.words)} words, "
                         f"pieces {shown(bounds)}. Make a new state")
    if len(words) and not 0 <= words.min() <= words.max() < n_words:
        raise ValueError(f"state.words was changed and reaches from {words.min()} to "
                         f"{words.max()}; expected ints in [0, {n_words - 1}]")
    tables = [len(x) for x in (state.keep, state.thresholds, state.others)]
    if len(state.inputs) < rows or tables != [n_words] * 3:
        raise ValueError(
            f"state.counts or state.inputs was changed: {n_words} words, tables of {tables}, "
            f"{len(state.inputs)} rows of inputs, {rows} needed. Make a new state")
