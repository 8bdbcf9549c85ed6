"""Ranks with ties, many rows at once, and Spearman's correlation in every resample of a bootstrap.

A rank is a place in the sorted row; equal values share the mean of their places. Evaluation scores every encoder by ranks, and its intervals rank
the same pairs a thousand times over. Taught in ``01_one_hot``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..dispatch import Operation
from ..inputs import as_integers, as_tensor, check_finite, in_order

__all__ = ["OPERATION", "ranks", "spearman_resamples"]

OPERATION = Operation("ranks", kernel=False, without="a sort of the library is as fast", processor="sort and counting")


def ranks(values: Any, *, backend: str | None = None) -> Tensor:
    """Rank 1 for the smallest value of a row up to n for the largest; equal values share the mean of their ranks.

        rank_i = #{j : v_j < v_i} + (#{j : v_j = v_i} + 1) / 2

    Parameters: values, (…, n) real and finite, ranked along the last axis; integers are compared exactly, of any size. backend, "cpu" or
    "reference". Returns float64 of the same shape, multiples of 1/2 that add up to n(n+1)/2 in each row; it has no gradient. Raises ValueError (NaN,
    infinity, no axis, backend), TypeError (no real numbers), BackendUnavailable.

    >>> ranks([10, 30, 20, 20]).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    return OPERATION.run("ranks", _comparable("values", values), backend=backend)


def spearman_resamples(columns: Any, gold: Any, draws: Any, *, backend: str | None = None) -> Tensor:
    """Spearman of every column with gold in every resample of the pairs; all columns see the same resamples.

        ρ = Σ_k a_k b_k / √(Σ_k a_k² Σ_k b_k²),    a, b: ranks of the drawn pairs among themselves, minus (m + 1) / 2

    Parameters: columns, (c, n) real and finite; gold, (n,); draws, an array or tensor of shape (resamples, m) of row numbers in [0, n),
    or an iterable of such blocks, which need not lie in memory at once. backend, "cpu" or "reference". Returns (c, resamples) float64 in [-1, 1], NaN
    where one side of a resample is constant. Memory beyond the result is one block of draws. Raises ValueError (shapes, NaN, a number that is no row,
    backend), TypeError (no real numbers, no row numbers), BackendUnavailable.

    >>> spearman_resamples([[0.1, 0.2, 0.9]], [1, 4, 5], np.array([[0, 1, 2], [2, 0, 2]])).tolist()
    [[1.0, 1.0]]
    """
    columns, gold = _comparable("columns", columns, ndim=2), _comparable("gold", gold, ndim=1)
    if columns.shape[1] != len(gold) or columns.numel() == 0:
        raise ValueError(f"columns has shape {tuple(columns.shape)} and gold {tuple(gold.shape)}; expected (columns, n) and (n,), >= 1 of each")
    if columns.device != gold.device:
        raise ValueError(f"columns lies on {columns.device} and gold on {gold.device}; expected one device. Move one: gold.to(columns.device)")
    return OPERATION.run("spearman_resamples", columns, gold, _blocks(draws, len(gold), columns.device), backend=backend)


def _comparable(name: str, values: Any, *, ndim: int | None = None) -> Tensor:
    """The values as float32, float64 or int64, in the same order and with the same ties."""
    x = in_order(name, values)
    if x is None:
        x = as_tensor(name, values, ndim=ndim).detach().resolve_neg()
        x = x if x.dtype == torch.float64 else x.float()
        check_finite(name, x)
    if x.ndim != (ndim or max(1, x.ndim)):
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {ndim or 1} axes")
    return x


def _blocks(draws: Any, n: int, device: torch.device) -> Iterator[Tensor]:
    """Checked blocks of row numbers, int64; a tensor on a GPU is trusted, because looking would make it wait."""
    for block in draws if isinstance(draws, Iterable) and not isinstance(draws, (Tensor, np.ndarray)) else [draws]:
        block = as_integers("draws", block)
        if block.ndim != 2:
            raise ValueError(f"draws has shape {tuple(block.shape)}; expected (resamples, rows drawn)")
        if block.device.type == "cpu" and math.prod(block.shape):
            low, high = int(block.numpy().min()), int(block.numpy().max())
            if low < 0 or high >= n:
                raise ValueError(f"draws holds {low if low < 0 else high}, which is no row; expected ints in [0, {n - 1}]")
        yield block.to(device)
