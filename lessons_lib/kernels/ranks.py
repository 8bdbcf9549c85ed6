"""Ranks with ties, many rows at once, and Spearman's correlation in every resample of a bootstrap.

A rank is a place in the sorted row; equal values share the mean of their places. Evaluation scores
every encoder by ranks, and its intervals rank the same pairs a thousand times over. Taught in
``01_one_hot``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int, Real
from torch import Tensor

from .contents import as_integers, check_finite, in_order
from .dispatch import Operation
from .inputs import as_tensor

__all__ = ["OPERATION", "ranks", "spearman_resamples"]

OPERATION = Operation("ranks", kernel=False, plain=True, processor="sort and counting",
                      without="a sort of the library is as fast")
BLOCK = 1 << 23                                 # numbers per table of the torch path: 64 MB


def ranks(values: Any, *, backend: str | None = None) -> Tensor:
    """Rank 1 for the smallest value of a row up to n for the largest; ties share their mean rank.

    Parameters
    ----------
    values : (..., n) real, finite
        Ranked along the last axis; integers are compared exactly, of any size.
    backend : {"cpu", "reference"}, optional

    Returns
    -------
    float64 Tensor, (..., n)
        Multiples of 1/2 that add up to n(n+1)/2 in each row; no gradient.

    Raises
    ------
    ValueError
        NaN, infinity, no axis, backend.
    TypeError
        No real numbers.
    BackendUnavailable
        backend="triton": there is no kernel.

    Notes
    -----
    ``rank_i = #{j : v_j < v_i} + (#{j : v_j = v_i} + 1) / 2``

    Examples
    --------
    >>> ranks([10, 30, 20, 20]).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    return OPERATION.run("ranks", _comparable("values", values), backend=backend)


def spearman_resamples(columns: Any, gold: Any, draws: Any, *,
                       backend: str | None = None) -> Tensor:
    """Spearman of every column with gold in every resample of the pairs.

    Parameters
    ----------
    columns : (c, n) real, finite
    gold : (n,) real, finite
    draws : (resamples, m) ints in [0, n), or an iterable of such blocks
        Row numbers; all columns see the same resamples. Blocks need not lie in memory at once.
    backend : {"cpu", "reference"}, optional

    Returns
    -------
    float64 Tensor, (c, resamples)
        In [-1, 1]; NaN where one side of a resample is constant.

    Raises
    ------
    ValueError
        Shapes, NaN, a number that is no row, backend.
    TypeError
        No real numbers, no row numbers.
    BackendUnavailable
        backend="triton": there is no kernel.

    Notes
    -----
    ``ρ = Σ_k a_k b_k / √(Σ_k a_k² Σ_k b_k²)`` with a, b the ranks of the drawn pairs among
    themselves, minus (m + 1) / 2. Memory beyond the result is one block of draws.

    Examples
    --------
    >>> spearman_resamples([[0.1, 0.2, 0.9]], [1, 4, 5], np.array([[0, 1, 2], [2, 0, 2]])).tolist()
    [[1.0, 1.0]]
    """
    columns = _comparable("columns", columns, ndim=2)
    gold = _comparable("gold", gold, ndim=1)
    if columns.shape[1] != len(gold) or columns.numel() == 0:
        raise ValueError(f"columns has shape {tuple(columns.shape)} and gold {tuple(gold.shape)}; "
                         "expected (columns, n) and (n,), >= 1 of each")
    if columns.device != gold.device:
        raise ValueError(f"columns lies on {columns.device} and gold on {gold.device}; expected "
                         "one device. Move one: gold.to(columns.device)")
    draws = _blocks(draws, len(gold), columns.device)
    return OPERATION.run("spearman_resamples", columns, gold, draws, backend=backend)


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
    """Checked blocks of row numbers, int64; a tensor on a GPU is trusted."""
    one = isinstance(draws, (Tensor, np.ndarray)) or not isinstance(draws, Iterable)
    for block in [draws] if one else draws:
        block = as_integers("draws", block)
        if block.ndim != 2:
            raise ValueError(f"draws has shape {tuple(block.shape)}; expected (resamples, rows "
                             "drawn)")
        if block.device.type == "cpu" and math.prod(block.shape):
            low, high = int(block.numpy().min()), int(block.numpy().max())
            if low < 0 or high >= n:
                raise ValueError(f"draws holds {low if low < 0 else high}, which is no row; "
                                 f"expected ints in [0, {n - 1}]")
        yield block.to(device)


def reference_ranks(values: Real[Tensor, "*rows n"]) -> Float[Tensor, "*rows n"]:
    """#smaller + (#equal + 1) / 2, where a value equals itself: n x n comparisons per row."""
    mine, other = values[..., :, None], values[..., None, :]
    return (other < mine).sum(dim=-1) + ((other == mine).sum(dim=-1) + 1).double() / 2


def reference_spearman_resamples(
        columns: Real[Tensor, "c n"], gold: Real[Tensor, " n"],
        draws: Iterable[Int[Tensor, "resamples m"]]) -> Float[Tensor, "c resamples"]:
    """Rank what was drawn, anew in every resample, and correlate by Pearson; NaN if constant."""
    results = [torch.empty(len(columns), 0, dtype=torch.float64, device=columns.device)]
    for rows in draws:
        a, b = reference_ranks(columns[:, rows]), reference_ranks(gold[rows])
        a, b = a - a.mean(dim=-1, keepdim=True), b - b.mean(dim=-1, keepdim=True)
        spread = (a.square().sum(dim=-1) * b.square().sum(dim=-1)).sqrt()
        pearson = torch.where(spread > 0, (a * b).sum(dim=-1) / spread, torch.nan)
        results.append(pearson.clamp(-1, 1))
    return torch.cat(results, dim=1)


# Which values are equal and which is smaller is the same in every resample, so the pairs are
# sorted once; how often each group of equal values was drawn then gives all ranks of a resample by
# a running sum: a compiled loop on the processor, elsewhere a scatter of torch.


def _sorted(values: Tensor) -> tuple[Tensor, Tensor]:
    """The order of each row and, in that order, whether a place begins a new group of equals."""
    on_processor = values.device.type == "cpu"  # there NumPy sorts several times faster than torch
    order = (torch.from_numpy(np.argsort(values.numpy(), axis=-1)) if on_processor
             else values.argsort(dim=-1))
    ordered = values.gather(-1, order)
    new = torch.ones_like(values, dtype=torch.bool)
    torch.ne(ordered[..., 1:], ordered[..., :-1], out=new[..., 1:])
    return order, new


def cpu_ranks(values: Tensor) -> Tensor:
    """A group of equal values from place p on shares the rank p + (size + 1) / 2."""
    order, new = _sorted(values)
    first = new.flatten().nonzero().squeeze(1)
    size = torch.diff(first, append=first.new_tensor([new.numel()]))
    shared = (first % values.shape[-1] if len(first) else first) + (size + 1).double() / 2
    result = torch.empty(values.shape, dtype=torch.float64, device=values.device)
    group = (new.flatten().cumsum(dim=0) - 1).reshape(values.shape)
    return result.scatter_(-1, order, shared[group])


def _groups(values: Tensor) -> Tensor:
    """Number of the group of equal values that each value belongs to, 0 for the smallest."""
    order, new = _sorted(values)
    return torch.empty_like(order).scatter_(-1, order, new.cumsum(dim=-1) - 1)


def cpu_spearman_resamples(columns: Tensor, gold: Tensor, draws: Iterable[Tensor]) -> Tensor:
    """One block of draws after the other, by the loop that suits the device."""
    groups = torch.cat([_groups(columns), _groups(gold)[None]])
    results = [torch.empty(len(columns), 0, dtype=torch.float64, device=columns.device)]
    if columns.device.type != "cpu":
        return torch.cat([*results, *(_by_scatter(groups, rows) for rows in draws)], dim=1)
    from .counting import correlate

    for rows in draws:
        results.append(torch.empty(len(columns), len(rows), dtype=torch.float64))
        correlate(groups.to(torch.int32).numpy(), rows.contiguous().numpy(), results[-1].numpy())
    return torch.cat(results, dim=1)


def _centred(group: Tensor, draws: Tensor) -> Tensor:
    """Twice the rank of every drawn value within its resample, minus twice their mean: whole
    numbers, in float64."""
    drawn = group[draws]
    size = drawn.new_zeros(len(draws), int(group.max()) + 1)
    size.scatter_add_(1, drawn, drawn.new_ones(1, 1).expand_as(drawn))
    return (2 * size.cumsum(dim=1) - size - draws.shape[1]).gather(1, drawn).double()


def _by_scatter(groups: Tensor, draws: Tensor) -> Tensor:
    blocks = []
    for rows in draws.split(max(1, BLOCK // max(draws.shape[1], groups.shape[1]))):
        gold, *sides = (_centred(group, rows) for group in (groups[-1], *groups[:-1]))
        products = torch.stack([(side * gold).sum(dim=1) for side in sides])
        squares = torch.stack([side.square().sum(dim=1) for side in sides])
        spread = (squares * gold.square().sum(dim=1)).sqrt()
        blocks.append(torch.where(spread > 0, products / spread, torch.nan).clamp(-1, 1))
    return torch.cat(blocks, dim=1)
