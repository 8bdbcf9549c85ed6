"""From a fast search in rounded numbers to the exact neighbours, in the one order that everybody gets.

A matrix product scores all rows with a largest error that is known. What lies within that error of place k is scored again in float64, always summed
in the same order, and sorted by score, then by row number: neither blocks nor device nor kernel can show, and copies of a row stand in the order of
their rows. Where too few candidates were kept to be sure, the query is compared again with all rows. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..layout import product
from ..products import row_product

__all__ = ["BLOCK", "Space", "result", "row_blocks", "settle", "space_of"]

BLOCK = 1 << 21                                 # scores per block: 8 MB in float32
SUMMED = 1 << 18                                # numbers per block of exact sums: 2 MB, which stay in the cache between the halvings
MODERATE = 40                                   # entries between 2^-40 and 2^40 are taken as they are; no square of them leaves float32
TINIEST = torch.finfo(torch.float64).tiny
LARGEST_SHIFT = {torch.float64: 1000}           # powers of two by which others are moved, so that the factor itself is a number
USUAL_SHIFT = 100


@dataclass(frozen=True)
class Space:
    """Two sets of rows and the score that a product of matrices gives them, larger for nearer: query @ x.T * weight + offset.

    cosine: weight = 1 / ‖x_j‖, offset = 0, so the score is ‖q_i‖ cos. l2: rows minus the mean of x, weight = 1, offset = -‖x_j‖² / 2, so the score is
    (‖q_i‖² - ‖q_i - x_j‖²) / 2. ``squares`` are float64; ``rounding`` is the largest error of a dot product as a share of ‖q‖ ‖x‖, ``vanishing``
    what each entry and the sum may lose besides where numbers are too small for their type; ``original`` are the rows that exact scores are made of.
    """

    metric: str
    query: Tensor
    x: Tensor
    weight: Tensor
    offset: Tensor
    query_squares: Tensor
    squares: Tensor
    rounding: float
    original: tuple[Tensor, Tensor]
    vanishing: float = 0.0

    def scores(self, rows: Tensor, columns: slice, *, exclude_self: bool) -> Tensor:
        """Fast scores of some queries and a block of columns, (rows, columns); -inf for a query with itself."""
        a, b = self.query[rows], self.x[columns]
        block = row_product(a, b) if a.dtype in (torch.float32, torch.float64) else product(a, b.T)
        if self.metric == "cosine":             # one pass over the block each: the other factor is 1, the other summand 0
            block.mul_(self.weight[columns])
        else:
            block.add_(self.offset[columns])
        if exclude_self:
            own = rows - columns.start
            inside = torch.nonzero((own >= 0) & (own < len(b)))[:, 0]
            block[inside, own[inside]] = -math.inf
        return block

    def cut(self, rows: Tensor, scores: Tensor, columns: Tensor) -> Tensor:
        """The fast score below which no row can be among the k nearest.

        Parameters: scores and columns, (rows, k), the k best fast scores and where they are. Returns (rows,). l2: the error of a score grows with the
        length of x_j, so first comes the longest x_j that can matter: one longer than ‖q‖ plus the distance of place k lies farther away.
        """
        if self.metric == "cosine":
            return scores[:, -1] - (2 * self.rounding * self.query_squares[rows].sqrt()).to(scores.dtype)
        vanished = self.x.shape[1] * TINIEST                    # of a square, in float64
        length, own = (self.query_squares[rows] + vanished).sqrt(), (self.squares[columns] + vanished).sqrt()
        surely = (scores - self._error(length[:, None], own)).amin(dim=1)          # float64: place k has at least this exact score
        longest = (length + (length.square() - 2 * surely).clamp_(min=0).sqrt()) * 1.001
        return (surely - self._error(length, longest)).to(scores.dtype)

    def _error(self, length: Tensor, own: Tensor) -> Tensor:
        """How far an l2 score of a query and a row of these lengths may lie from the exact one: rounding, and what vanished below the type."""
        both = length + own
        return self.rounding * own * both + self.vanishing * (1 + both)

    def exact(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Cosine, or minus the distance, of pairs (rows[p], columns[p]) in float64; (p,)."""
        found = torch.empty(len(rows), dtype=torch.float64, device=self.x.device)
        step = max(1, SUMMED // self.x.shape[1])
        query, x = self.original
        for start in range(0, len(rows), step):
            i, j = rows[start : start + step], columns[start : start + step]
            if self.metric == "cosine":
                lengths = (self.query_squares[i] * self.squares[j]).sqrt()
                dots = _row_sums(query[i].double().mul_(x[j].double()))
                found[start : start + step] = torch.where(lengths > 0, dots / lengths, 0.0).clamp_(-1, 1)
            else:
                found[start : start + step] = -_distances(query[i], x[j])
        return found


# ------------------------------------------------------------------------------------------------ making a space


def _row_sums(y: Tensor) -> Tensor:
    """The sum of each row, half onto half: the same order for every row on every device. y is written over."""
    width = y.shape[1]
    while width > 1:
        half = (width + 1) // 2
        y[:, : width - half] += y[:, half:width]
        width = half
    return y[:, 0]


def _distances(a: Tensor, b: Tensor) -> Tensor:
    """‖a_p - b_p‖ in float64. Where squares leave the type, the gap is divided by a power of two first; huge rows are halved besides."""
    if a.dtype != torch.float64:                # no square of such numbers leaves float64
        return _row_sums(a.double().sub_(b.double()).square_()).sqrt_()
    squares = _row_sums((a - b).square_())
    extreme = torch.nonzero(~((squares > TINIEST**0.6) & (squares < math.inf)))[:, 0]
    distances = squares.sqrt_()
    if len(extreme):                            # a row and its copy come here too: there is nothing to divide
        gaps = a[extreme] - b[extreme]
        halved = ~torch.isfinite(gaps).all(dim=1)
        gaps[halved] = a[extreme[halved]] / 2 - b[extreme[halved]] / 2
        factor = _shift(torch.linalg.vector_norm(gaps, ord=math.inf, dim=1), torch.float64)
        distances[extreme] = _row_sums(gaps.mul_(factor[:, None]).square_()).sqrt_() / factor * torch.where(halved, 2.0, 1.0)
    return distances


def _squares(x: Tensor) -> Tensor:
    """‖x_i‖² in float64; summed as `Space.exact` sums, so the cosine of a row with itself is exactly 1."""
    found = torch.empty(len(x), dtype=torch.float64, device=x.device)
    step = max(1, SUMMED // x.shape[1])
    for start in range(0, len(x), step):
        found[start : start + step] = _row_sums(x[start : start + step].to(torch.float64, copy=True).square_())
    return found


def _shift(peak: Tensor, dtype: torch.dtype) -> Tensor:
    """The power of two, in float64, that brings entries of size ``peak`` near 1; 1 where they are moderate already."""
    exponent = torch.frexp(peak.double()).exponent
    most = LARGEST_SHIFT.get(dtype, USUAL_SHIFT)
    wanted = torch.where(exponent.abs() > MODERATE, -exponent.clamp(-most, most), 0)
    return torch.ldexp(torch.ones_like(peak, dtype=torch.float64), wanted)


def _moderate_rows(x: Tensor) -> Tensor:
    """x itself, or a copy in which rows of very large or small numbers are multiplied by a power of two: exact, and no cosine changes."""
    if len(x) == 0:
        return x
    factor = _shift(torch.linalg.vector_norm(x, ord=math.inf, dim=1), x.dtype)
    return x if bool((factor == 1).all()) else x * factor.to(x.dtype)[:, None]


def _product_error(device: torch.device, dtype: torch.dtype) -> float:
    """What torch may lose of each product of two numbers, as a share: nothing, unless the user allowed coarser float32 products."""
    if dtype != torch.float32:
        return 0.0
    library = torch.backends.cuda if device.type == "cuda" else torch.backends.mkldnn
    return {"tf32": 2.0**-9, "bf16": 2.0**-6}.get(library.matmul.fp32_precision, 0.0)


def space_of(query: Tensor, x: Tensor, *, metric: str, dtype: torch.dtype, growth: int = 1) -> Space:
    """The two sets of rows made ready for a product in ``dtype``.

    Parameters: growth, roundings that each of the d terms of a dot product may suffer: 1 for torch's products, more for a kernel that splits numbers.
    """
    same = query.data_ptr() == x.data_ptr() and query.shape == x.shape and query.stride() == x.stride()
    scores = torch.float64 if dtype == torch.float64 else torch.float32
    rounding = growth * (x.shape[1] + 8) * torch.finfo(scores).eps + _product_error(x.device, dtype)
    if metric == "cosine":
        b = _moderate_rows(x.to(dtype))
        a = b if same else _moderate_rows(query.to(dtype))
        squares = _squares(b)
        query_squares = squares if same else _squares(a)
        weight = torch.where(squares > 0, squares.rsqrt(), 0.0).to(scores)
        return Space(metric, a, b, weight, torch.zeros_like(weight), query_squares, squares, rounding, (a, b))
    given = query, x
    peak = torch.stack([t.abs().amax() if t.numel() else t.new_zeros(()) for t in given]).amax()
    scale = float(_shift(peak.to(dtype), dtype))
    if scale != 1:
        x = x.to(dtype) * scale
        query = x if same else query.to(dtype) * scale
    b = x.to(dtype, copy=True)
    mean = b.mean(dim=0)
    b -= mean
    a = b if same else query.to(dtype) - mean
    squares = _squares(b)
    query_squares = squares if same else _squares(a)
    offset = (squares / -2).to(scores)
    vanishing = growth * (x.shape[1] + 8) * torch.finfo(scores).tiny
    return Space(metric, a, b, torch.ones_like(offset), offset, query_squares, squares, rounding, given, vanishing)


# ------------------------------------------------------------------------------------------------ from candidates to neighbours


def row_blocks(m: int, step: int, device: torch.device) -> Iterator[Tensor]:
    """The numbers 0 … m-1 in blocks of ``step``."""
    return (torch.arange(start, min(m, start + step), device=device) for start in range(0, m, step))


def _best(space: Space, rows: Tensor, pairs: tuple[Tensor, Tensor], k: int) -> tuple[Tensor, Tensor]:
    """The k best of each row by (exact score, column). pairs: (place in rows, column), at least k of each row."""
    place, column = pairs
    score = space.exact(rows[place], column)
    order = column.argsort(stable=True)
    order = order[score[order].argsort(descending=True, stable=True)]
    order = order[place[order].argsort(stable=True)]
    counts = torch.bincount(place, minlength=len(rows))
    first = counts.cumsum(0) - counts
    chosen = order[first[:, None] + torch.arange(k, device=column.device)]
    return score[chosen], column[chosen]


def _all_within(space: Space, rows: Tensor, cut: Tensor, k: int, *, exclude_self: bool) -> tuple[Tensor, Tensor]:
    """Pairs (place in rows, column) of every column whose fast score reaches the cut."""
    within = space.scores(rows, slice(0, len(space.x)), exclude_self=exclude_self) >= cut[:, None]
    if space.metric == "cosine":                # a zero query scores 0 with all: the first k others are its neighbours
        within[space.query_squares[rows] == 0, k + 1 :] = False
    place, column = torch.nonzero(within, as_tuple=True)
    return place, column


def settle(space: Space, rows: Tensor, candidates: tuple[Tensor, Tensor], *, k: int, exclude_self: bool) -> tuple[Tensor, Tensor]:
    """The exact k nearest of the queries ``rows`` from the best candidates of a fast search.

    Parameters: candidates, fast scores in falling order and their columns, (rows, c) with c >= k (fewer only when x has no more); what is not among
    them must score no higher than the last of them. Returns exact scores (float64) and columns, (rows, k).
    """
    scores, columns = candidates
    cut = space.cut(rows, scores[:, :k], columns[:, :k])
    open_ = torch.zeros_like(rows, dtype=torch.bool) if scores.shape[1] >= len(space.x) else scores[:, -1] >= cut
    found = (torch.empty(len(rows), k, dtype=torch.float64, device=rows.device), torch.empty(len(rows), k, dtype=torch.int64, device=rows.device))
    sure = torch.nonzero(~open_)[:, 0]
    place, slot = torch.nonzero(scores[sure] >= cut[sure, None], as_tuple=True)
    parts = [(sure, (place, columns[sure][place, slot]))]
    for part in torch.nonzero(open_)[:, 0].split(max(1, BLOCK // len(space.x))):
        parts.append((part, _all_within(space, rows[part], cut[part], k, exclude_self=exclude_self)))
    for part, pairs in parts:
        found[0][part], found[1][part] = _best(space, rows[part], pairs, k)
    return found


def result(x: Tensor, found: list[tuple[Tensor, Tensor]], *, k: int, metric: str) -> tuple[Tensor, Tensor]:
    """Blocks of (exact scores, columns) as the caller gets them: cosines falling or distances rising, in x's type (float32 for half types)."""
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    if not found:
        return torch.empty(0, k, dtype=dtype, device=x.device), torch.empty(0, k, dtype=torch.int64, device=x.device)
    scores = torch.cat([scores for scores, _ in found])
    return (scores if metric == "cosine" else scores.neg_()).to(dtype), torch.cat([columns for _, columns in found])
