"""What a GloVe step changes and what it reads: two matrices of rows, and the counts in the order in
which they are learned.

A row of ``words`` holds the vector, its bias and a 1, a row of ``contexts`` the vector, a 1 and its
bias, so that their product is w·w̃ + b + b̃; then zeros up to a multiple of sixteen numbers, and
after them the sum of squares of each number. The ones have sums so large that they never move.
Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import check_array, check_float, check_int, generator, shown
from ..layout import padded, padded_width

__all__ = ["BYTES_PER_COUNT", "GloveState", "Settings", "shifts"]

FIXED = 1e30  # sum of squares of a number that stays: its steps are below its rounding
# Of context rows, which are visited often within a tile: the second-level cache should hold them.
TILE_BYTES = 1 << 20
FEWEST_GROUPS = 16  # tiles that may run side by side
BYTES_PER_COUNT = 16  # two places, log X and f
GPU_GROUPS = 1024  # there each tile is one program
Counts = tuple[np.ndarray, np.ndarray, np.ndarray]  # offsets, columns, values


@dataclass(frozen=True)
class Settings:
    """How the counts are learned from; checked and completed by `glove_step`. ``shifts``: of the
    rounds to do, see `shifts`."""

    rate: float
    clip: float
    shifts: tuple[int, ...]
    threads: int


def shifts(groups: int, seed: int, epoch: int) -> list[int]:
    """The rounds of an epoch in their order: in the round of shift s, each group g of words meets
    the group g + s of contexts."""
    return np.random.Generator(np.random.PCG64([seed, epoch])).permutation(groups).tolist()


class GloveState:
    """The model and the counts of GloVe; `glove_step` changes ``words`` and ``contexts`` in place.

    Parameters
    ----------
    offsets, columns, values : (V + 1,) and (n,) ints, (n,) numbers > 0
        The counts, those of word i from ``offsets[i]`` to ``offsets[i + 1]``.
    words, contexts : (V, d + 1) and (V', d + 1) numbers, copied
        Each row a vector with its bias at the end.
    word_squares, context_squares : of the same shapes, default None
        AdaGrad's sums of squares; None: 1.
    x_max, exponent : float > 0, float >= 0, default 100 and 0.75
        Of the weight f.
    groups : int >= 1, default None
        Into how many words and contexts are parted; None: what suits the cache (or the GPU).
    seed : int, default 0
        Of the order.
    folder : path, default None
        Lay the arranged counts in nameless files there, 16 bytes each; None: in memory.
    device : default "cpu"

    Attributes
    ----------
    words, contexts : (V, 2, columns) and (V', 2, columns) float32
        Numbers and sums of squares, rows in the order of ``word_order`` and ``context_order``.
    rows, columns : (n,) int32
        Places in that order.
    logs, weights : (n,) float32
        log X and f.
    tiles : (groups² + 1,) int64
        The counts of words of group g and contexts of group h lie from ``tiles[groups g + h]`` to
        ``tiles[groups g + h + 1]``.
    dim, groups : int

    Raises
    ------
    TypeError, ValueError
        Wrong types and shapes, counts that are not finite or not > 0.
    OSError
        Too little space in ``folder``.
    """
    def __init__(self, offsets: Any, columns: Any, values: Any, words: Any, contexts: Any, *,
                 word_squares: Any = None, context_squares: Any = None, x_max: float = 100.0,
                 exponent: float = 0.75, groups: int | None = None, seed: int = 0,
                 folder: Any = None, device: Any = "cpu") -> None:
        words, contexts = _matrix("words", words), _matrix("contexts", contexts)
        if words.shape[1] != contexts.shape[1] or words.shape[1] < 2:
            raise ValueError(f"words has shape {words.shape}, contexts {contexts.shape}; expected "
                             "as many columns: those of a vector and its bias")
        squares = (_squares("word_squares", word_squares, words),
                   _squares("context_squares", context_squares, contexts))
        counts = _checked(offsets, columns, values, (len(words), len(contexts)))
        weighting = (check_float("x_max", x_max, low=0.0, open_low=True),
                     check_float("exponent", exponent, low=0.0))
        self.dim, on_gpu = words.shape[1] - 1, torch.device(device).type != "cpu"
        self.groups = _groups(groups, words.shape, contexts.shape, on_gpu)
        self._arrange(counts, len(contexts), weighting, generator(seed),
                      _space(len(counts[1]), folder))
        self.words = _rows(words, squares[0], self.word_order, bias=self.dim)
        self.contexts = _rows(contexts, squares[1], self.context_order, bias=self.dim + 1)
        for name in ("words", "contexts", "rows", "columns", "logs", "weights", "tiles"):
            setattr(self, name, getattr(self, name).to(device))

    def _arrange(self, counts: Counts, n_contexts: int, weighting: tuple[float, float],
                 rng: np.random.Generator, out: list[np.ndarray]) -> None:
        from .training import arrange, per_column, tile_bounds

        offsets, columns, _ = counts
        self.word_order, word_groups = _dealt(np.diff(offsets), self.groups, rng)
        self.context_order, context_groups = _dealt(per_column(columns, n_contexts), self.groups,
                                                    rng)
        places = np.empty(n_contexts, dtype=np.int32)
        places[self.context_order] = np.arange(n_contexts, dtype=np.int32)
        tiles = tile_bounds(offsets, columns, word_groups, context_groups, self.groups)
        longest = np.empty(int(np.diff(offsets).max()), dtype=np.int64)
        arrange(counts, (self.word_order, word_groups, places, context_groups), weighting, tiles,
                longest, int(rng.integers(1 << 62)), tuple(out))
        tensors = (torch.from_numpy(x) for x in (*out, tiles))
        self.rows, self.columns, self.logs, self.weights, self.tiles = tensors

    def check_sound(self) -> None:
        """Check what compiled loops take on trust, because numbers become addresses there: tensors
        may have been put in place of others.

        Places of rows are not read again. Raises ValueError.
        """
        width, n, tiles = padded_width(self.dim + 2), len(self.logs), self.tiles
        tables = ((self.words, (len(self.word_order), 2, width), torch.float32),
                  (self.contexts, (len(self.context_order), 2, width), torch.float32),
                  (self.rows, (n,), torch.int32), (self.columns, (n,), torch.int32),
                  (self.logs, (n,), torch.float32), (self.weights, (n,), torch.float32),
                  (tiles, (self.groups**2 + 1,), torch.int64))
        for x, shape, kind in tables:
            if tuple(x.shape) != shape or x.dtype != kind or not x.is_contiguous():
                raise ValueError(f"a tensor of the state has become {x.dtype} of shape "
                                 f"{tuple(x.shape)}; expected {shape} of {kind}, contiguous. Write "
                                 "into it, or make a new state")
        if int(tiles[0]) != 0 or int(tiles[-1]) != n or bool((tiles.diff() < 0).any()):
            raise ValueError(f"state.tiles was changed; expected numbers that rise from 0 to {n}. "
                             "Make a new state")

    def parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What was learned, in the order in which words and contexts were given.

        Returns
        -------
        words, contexts, word_squares, context_squares : float32, (V, d + 1) each
            The bias, and its sum of squares, at the end.
        """
        result = []
        for part in (0, 1):
            for rows, order, bias in ((self.words, self.word_order, self.dim),
                                      (self.contexts, self.context_order, self.dim + 1)):
                numbers = rows[:, part].cpu().numpy()
                back = np.empty((len(rows), self.dim + 1), dtype=np.float32)
                back[order, :-1], back[order, -1] = numbers[:, :self.dim], numbers[:, bias]
                result.append(back)
        return tuple(result)


def _groups(asked: int | None, words: tuple[int, ...], contexts: tuple[int, ...],
            on_gpu: bool) -> int:
    most = max(1, min(words[0], contexts[0]))
    if asked is not None:
        return check_int("groups", asked, high=most)
    in_cache = -(-contexts[0] * 8 * padded_width(contexts[1] + 1) // TILE_BYTES)
    return min(most, GPU_GROUPS if on_gpu else max(FEWEST_GROUPS, in_cache))


def _matrix(name: str, value: Any) -> np.ndarray:
    given = check_array(name, value.detach().cpu().numpy() if isinstance(value, Tensor) else value,
                        min_rows=1)
    with np.errstate(over="ignore"):
        result = given.astype(np.float32)
    if not np.isfinite(result).all():
        raise ValueError(
            f"{name} holds {np.abs(given).max():g}; expected numbers within float32, up to 3.4e+38")
    return result


def _numbers(name: str, value: Any, kinds: str) -> np.ndarray:
    """One axis of numbers of some kinds, in the byte order that compiled loops read; an empty list
    is one too. No copy where none is needed."""
    result = np.asarray(value)
    if result.ndim != 1 or (len(result) and result.dtype.kind not in kinds):
        allowed = "whole numbers" if "f" not in kinds else "numbers"
        raise TypeError(f"{name}={shown(result)} has shape {result.shape} of {result.dtype}; "
                        f"expected {allowed} on one axis")
    if len(result) == 0:
        return result.astype(np.int32 if "f" not in kinds else np.float32)
    return result.astype(result.dtype.newbyteorder("="), copy=False)


def _squares(name: str, value: Any, like: np.ndarray) -> np.ndarray:
    if value is None:
        return np.ones_like(like)
    result = _matrix(name, value)
    if result.shape != like.shape or not (result > 0).all():
        raise ValueError(f"{name} has shape {result.shape} and smallest number {result.min():g}; "
                         f"expected {like.shape}, all > 0")
    return result


def _checked(offsets: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Counts:
    """The counts as arrays of numbers. Raises TypeError for other arrays, ValueError for what is no
    sparse matrix of that shape or not > 0."""
    offsets = _numbers("offsets", offsets, "iu").astype(np.int64)
    columns, values = _numbers("columns", columns, "iu"), _numbers("values", values, "iuf")
    n = len(columns)
    if (len(offsets) != shape[0] + 1 or offsets[0] != 0 or offsets[-1] != n
            or (np.diff(offsets) < 0).any() or len(values) != n):
        raise ValueError(f"offsets={shown(offsets)} are wrong; expected {shape[0] + 1} numbers "
                         f"that begin with 0, never fall and end with {n}, the number of columns, "
                         f"and as many values ({len(values)})")
    if n and not 0 <= columns.min() <= columns.max() < shape[1]:
        raise ValueError(f"columns reach from {columns.min()} to {columns.max()}; expected ints in "
                         f"[0, {shape[1] - 1}]")
    good = (values > 0) & (values < np.inf)  # nor is NaN
    if not good.all():
        i = int(np.argmin(good))
        row = int(np.searchsorted(offsets, i, side="right")) - 1
        raise ValueError(f"count of row {row}, column {columns[i]} is {values[i]:g} "
                         f"({n - int(good.sum())} of {n} are no finite number > 0); GloVe learns "
                         "logarithms. Leave such counts out (zeros: counts.eliminate_zeros())")
    return offsets, columns, values


def _space(n: int, folder: Any) -> list[np.ndarray]:
    """Two int32 and two float32 arrays to be written, in memory or on files without a name, which
    are gone when the arrays are."""
    kinds = (np.int32, np.int32, np.float32, np.float32)
    if folder is None or n == 0:
        return [np.empty(n, dtype=kind) for kind in kinds]
    Path(folder).mkdir(parents=True, exist_ok=True)
    # a file that is mapped grows without a word until writing kills us
    if (free := shutil.disk_usage(folder).free) < BYTES_PER_COUNT * n:
        raise OSError(errno.ENOSPC, f"{n:,} counts need {BYTES_PER_COUNT * n:,} bytes in {folder}, "
                      f"{free:,} are free; use memory or another folder")
    result = []
    for kind in kinds:
        with tempfile.TemporaryFile(dir=folder, prefix=".tmp-") as file:
            result.append(np.asarray(np.memmap(file, dtype=kind, mode="w+", shape=n)))
    return result


def _dealt(n_counts: np.ndarray, groups: int,
           rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Deal rows out to groups by falling number of counts, so that groups have about as many: row
    at each place, group of each row."""
    n = len(n_counts)
    cards = rng.permuted(np.tile(np.arange(groups), (-(-n // groups), 1)), axis=1).ravel()[:n]
    group = np.empty(n, dtype=np.int64)
    group[np.argsort(-n_counts, kind="stable")] = cards
    return np.lexsort((rng.random(n), group)), group


def _rows(numbers: np.ndarray, squares: np.ndarray, order: np.ndarray, *, bias: int) -> Tensor:
    """Numbers and sums of squares side by side, the bias in its column and a 1 that stays in the
    other one."""
    d = numbers.shape[1] - 1
    result = padded(torch.zeros(len(numbers), 2, d + 2))
    result[:, 1] = 1.0
    one = 2 * d + 1 - bias
    for part, x, fixed in ((0, numbers, 1.0), (1, squares, FIXED)):
        result[:, part, :d] = torch.from_numpy(x[order, :d])
        result[:, part, bias] = torch.from_numpy(x[order, d])
        result[:, part, one] = fixed
    return result
