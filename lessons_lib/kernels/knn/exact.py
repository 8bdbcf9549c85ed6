"""From a fast search in rounded numbers to the exact neighbours, in one order for everybody.

A matrix product scores all rows with a largest error that is known. What lies within that error of
place k is scored again in float64, always summed in the same order, and sorted by score, then by
row number: neither blocks nor device nor kernel can show, and copies of a row stand in the order of
their rows. Where too few candidates were kept to be sure, the query is compared again with all
rows. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..autograd import result_type
from ..layout import product
from ..products import row_product

BLOCK = 1 << 21                 # scores per block: 8 MB in float32
SUMMED = 1 << 18                # numbers per block of exact sums: 2 MB, which stay in the cache
MODERATE = 40                   # entries from 2^-40 to 2^40 stay: no square leaves float32
TINIEST = torch.finfo(torch.float64).tiny


@dataclass(frozen=True)
class Space:
    """Two sets of rows and their fast score, larger for nearer: query @ x.T * weight + offset.

    cosine: weight = 1 / ‖x_j‖, offset = 0, so the score is ‖q_i‖ cos. l2: rows minus the mean of x,
    weight = 1, offset = -‖x_j‖² / 2, so the score is (‖q_i‖² - ‖q_i - x_j‖²) / 2. ``squares`` are
    float64; ``rounding`` is the largest error of a dot product as a share of ‖q‖ ‖x‖, ``vanishing``
    what each entry and the sum may lose besides where numbers are too small for their type;
    ``original`` are the rows that exact scores are made of.
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
        """Of some queries and a block of columns, (rows, columns); -inf for a query with itself."""
        a, b = self.query[rows], self.x[columns]
        block = row_product(a, b) if a.dtype in (torch.float32, torch.float64) else product(a, b.T)
        if self.metric == "cosine":             # the other factor is 1, the other summand 0
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

        scores and columns, (rows, k), are the k best fast scores and where they are. l2: the error
        of a score grows with ‖x_j‖, so first comes the longest x_j that can matter: one longer
        than ‖q‖ plus the distance of place k lies farther away.
        """
        squares = self.query_squares[rows]
        if self.metric == "cosine":
            return scores[:, -1] - (2 * self.rounding * squares.sqrt()).to(scores.dtype)
        vanished = self.x.shape[1] * TINIEST                    # of a square, in float64
        length, own = (squares + vanished).sqrt(), (self.squares[columns] + vanished).sqrt()
        # float64: place k has at least this exact score
        surely = (scores - self._error(length[:, None], own)).amin(dim=1)
        longest = (length + (length.square() - 2 * surely).clamp_(min=0).sqrt()) * 1.001
        return (surely - self._error(length, longest)).to(scores.dtype)

    def _error(self, length: Tensor, own: Tensor) -> Tensor:
        """How far an l2 score may lie from the exact one, for rows of these norms."""
        both = length + own
        return self.rounding * own * both + self.vanishing * (1 + both)

    def exact(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Cosine, or minus the distance, of pairs (rows[p], columns[p]) in float64; (p,)."""
        query, x = self.original
        results = [torch.empty(0, dtype=torch.float64, device=self.x.device)]
        step = max(1, SUMMED // self.x.shape[1])
        for i, j in zip(rows.split(step), columns.split(step), strict=True):
            if self.metric == "cosine":
                norms = (self.query_squares[i] * self.squares[j]).sqrt()
                dots = _row_sums(query[i].double().mul_(x[j].double()))
                results.append(torch.where(norms > 0, dots / norms, 0.0).clamp_(-1, 1))
            else:
                results.append(-_distances(query[i], x[j]))
        return torch.cat(results)


def _row_sums(y: Tensor) -> Tensor:
    """The sum of each row, half onto half, in place: one order for every row on every device."""
    width = y.shape[1]
    while width > 1:
        half = (width + 1) // 2
        y[:, : width - half] += y[:, half:width]
        width = half
    return y[:, 0]


def _distances(a: Tensor, b: Tensor) -> Tensor:
    """‖a_p - b_p‖ in float64. Where squares leave the type, the gap is divided by a power of two
    first; huge rows are halved besides."""
    if a.dtype != torch.float64:                # no square of such numbers leaves float64
        return _row_sums(a.double().sub_(b.double()).square_()).sqrt_()
    squares = _row_sums((a - b).square_())
    extreme = torch.nonzero(~((squares > TINIEST**0.6) & (squares < math.inf)))[:, 0]
    distances = squares.sqrt_()
    if len(extreme):            # a row and its copy come here too: there is nothing to divide
        gaps = a[extreme] - b[extreme]
        halved = ~torch.isfinite(gaps).all(dim=1)
        gaps[halved] = a[extreme[halved]] / 2 - b[extreme[halved]] / 2
        factor = _shift(torch.linalg.vector_norm(gaps, ord=math.inf, dim=1), torch.float64)
        moderate = _row_sums(gaps.mul_(factor[:, None]).square_()).sqrt_()
        distances[extreme] = moderate / factor * torch.where(halved, 2.0, 1.0)
    return distances


def _squares(x: Tensor) -> Tensor:
    """‖x_i‖² in float64; summed as `Space.exact` sums, so a row has cosine 1 with itself."""
    return torch.cat([_row_sums(rows.to(torch.float64, copy=True).square_())
                      for rows in x.split(max(1, SUMMED // x.shape[1]))])


def _shift(peak: Tensor, dtype: torch.dtype) -> Tensor:
    """The power of two that brings entries of size ``peak`` near 1; 1 where they are moderate."""
    exponent = torch.frexp(peak.double()).exponent
    most = 1000 if dtype == torch.float64 else 100          # so that the factor is a number itself
    wanted = torch.where(exponent.abs() > MODERATE, -exponent.clamp(-most, most), 0)
    return torch.ldexp(torch.ones_like(peak, dtype=torch.float64), wanted)


def _moderate_rows(x: Tensor) -> Tensor:
    """x, or a copy with extreme rows times a power of two: exact, and no cosine changes."""
    if len(x) == 0:
        return x
    factor = _shift(torch.linalg.vector_norm(x, ord=math.inf, dim=1), x.dtype)
    return x if bool((factor == 1).all()) else x * factor.to(x.dtype)[:, None]


def _product_error(device: torch.device, dtype: torch.dtype) -> float:
    """What torch may lose of a product of two numbers: nothing unless coarse ones are allowed."""
    if dtype != torch.float32:
        return 0.0
    library = torch.backends.cuda if device.type == "cuda" else torch.backends.mkldnn
    return {"tf32": 2.0**-9, "bf16": 2.0**-6}.get(library.matmul.fp32_precision, 0.0)


def space_of(query: Tensor, x: Tensor, *, metric: str, dtype: torch.dtype,
             growth: int = 1) -> Space:
    """The two sets of rows made ready for a product in ``dtype``.

    ``growth``: roundings that each of the d terms of a dot product may suffer: 1 for torch's
    products, more for a kernel that splits numbers.
    """
    same = (query.data_ptr(), query.shape, query.stride()) == (x.data_ptr(), x.shape, x.stride())
    scores = torch.float64 if dtype == torch.float64 else torch.float32
    rounding = growth * (x.shape[1] + 8) * torch.finfo(scores).eps + _product_error(x.device, dtype)
    if metric == "cosine":
        b = _moderate_rows(x.to(dtype))
        a = b if same else _moderate_rows(query.to(dtype))
        squares = _squares(b)
        query_squares = squares if same else _squares(a)
        weight = torch.where(squares > 0, squares.rsqrt(), 0.0).to(scores)
        return Space(metric, a, b, weight, torch.zeros_like(weight), query_squares, squares,
                     rounding, (a, b))
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
    return Space(metric, a, b, torch.ones_like(offset), offset, query_squares, squares, rounding,
                 given, vanishing)


def row_blocks(m: int, step: int, device: torch.device) -> Iterator[Tensor]:
    """The numbers 0 … m-1 in blocks of ``step``."""
    return (torch.arange(start, min(m, start + step), device=device) for start in range(0, m, step))


def _best(space: Space, rows: Tensor, pairs: tuple[Tensor, Tensor],
          k: int) -> tuple[Tensor, Tensor]:
    """The k best of each row by (exact score, column), of pairs (place in rows, column)."""
    place, column = pairs
    score = space.exact(rows[place], column)
    order = column.argsort(stable=True)
    order = order[score[order].argsort(descending=True, stable=True)]
    order = order[place[order].argsort(stable=True)]
    counts = torch.bincount(place, minlength=len(rows))
    first = counts.cumsum(0) - counts
    chosen = order[first[:, None] + torch.arange(k, device=column.device)]
    return score[chosen], column[chosen]


def _all_within(space: Space, rows: Tensor, cut: Tensor, k: int, *,
                exclude_self: bool) -> tuple[Tensor, Tensor]:
    """Pairs (place in rows, column) of every column whose fast score reaches the cut."""
    within = space.scores(rows, slice(0, len(space.x)), exclude_self=exclude_self) >= cut[:, None]
    if space.metric == "cosine":        # a zero query scores 0 with all: its first k others
        within[space.query_squares[rows] == 0, k + 1 :] = False
    return torch.nonzero(within, as_tuple=True)


def settle(space: Space, rows: Tensor, candidates: tuple[Tensor, Tensor], *, k: int,
           exclude_self: bool) -> tuple[Tensor, Tensor]:
    """The exact k nearest of the queries ``rows`` from the best candidates of a fast search.

    ``candidates``: fast scores in falling order and their columns, (rows, c) with c >= k (fewer
    only when x has no more); nothing else scores higher than the last of them. Returns exact
    scores (float64) and columns, (rows, k).
    """
    scores, columns = candidates
    cut = space.cut(rows, scores[:, :k], columns[:, :k])
    unsure = (scores[:, -1] >= cut) & (scores.shape[1] < len(space.x))
    result = scores.new_empty(len(rows), k, dtype=torch.float64), rows.new_empty(len(rows), k)
    sure = torch.nonzero(~unsure)[:, 0]
    place, slot = torch.nonzero(scores[sure] >= cut[sure, None], as_tuple=True)
    parts = [(sure, (place, columns[sure][place, slot]))]
    for part in torch.nonzero(unsure)[:, 0].split(max(1, BLOCK // len(space.x))):
        within = _all_within(space, rows[part], cut[part], k, exclude_self=exclude_self)
        parts.append((part, within))
    for part, pairs in parts:
        result[0][part], result[1][part] = _best(space, rows[part], pairs, k)
    return result


def joined(x: Tensor, blocks: list[tuple[Tensor, Tensor]], *, k: int,
           metric: str) -> tuple[Tensor, Tensor]:
    """Blocks of (exact scores, columns) as the caller gets them: cosines or distances."""
    none = x.new_empty(0, k, dtype=torch.float64), x.new_empty(0, k, dtype=torch.int64)
    scores, columns = (torch.cat(parts) for parts in zip(none, *blocks, strict=True))
    return (scores if metric == "cosine" else scores.neg_()).to(result_type(x)), columns
