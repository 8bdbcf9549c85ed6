"""How tensors lie in memory for a Triton kernel, and blocks of a product that is never whole.

Rows start at multiples of 16 numbers: then loads are 128 bits wide and scattered additions go as
vectors; a row of 300 numbers gets a stride of 304. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from .dispatch import interpreting

__all__ = ["ALIGNMENT", "add_product", "aligned_rows", "one_piece", "padded", "padded_width",
           "precision", "product", "row_products", "rows_per_block"]

ALIGNMENT = 16                  # numbers
CACHE_BYTES = 48 << 20          # a block of float32 products: the L2 cache of a big GPU
MOST_BYTES = 256 << 20
LINE = 64                       # bytes of a processor's cache line, where torch's arrays start
FULL_RATE_ROWS = 1024           # with fewer a matrix product of a big GPU loses speed


def aligned_rows(x: Tensor) -> Tensor:
    """x itself when its rows are contiguous and start at multiples of 16 numbers, else a copy.

    A row that is repeated (``expand``) or skipped (``x[::2]``) needs no copy: the stride says it.
    Kernels multiply row numbers as int64 by the stride, so x may hold more than 2^31 numbers.
    """
    if x.stride(1) == 1 and x.stride(0) % ALIGNMENT == 0 and x.data_ptr() % 16 == 0:
        return x
    padded = torch.empty(len(x), padded_width(x.shape[1]), dtype=x.dtype, device=x.device)
    padded[:, : x.shape[1]] = x             # the rest is never read: loads are masked at d
    return padded[:, : x.shape[1]]


def padded(rows: Tensor) -> Tensor:
    """A float32 copy of (…, K) numbers, with rows of a multiple of 16 columns that begin at
    multiples of 64 bytes, and zeros in the columns that are new."""
    shape = (*rows.shape[:-1], padded_width(rows.shape[-1]))
    size = int(np.prod(shape))
    space = torch.zeros(0 if rows.device.type == "cpu" else size + 16, device=rows.device)
    if rows.device.type == "cpu":  # NumPy asks Linux for large pages, torch does not: random rows
        space = torch.from_numpy(np.zeros(size + 16, np.float32))  # are found a tenth sooner
    start = -(space.data_ptr() // 4) % 16
    result = space[start : start + size].view(shape)
    result[..., : rows.shape[-1]] = rows
    return result


def one_piece(x: Tensor) -> Tensor:
    """x itself when it lies without gaps and starts where torch's own arrays do, else a copy.

    Libraries choose the order of their additions by strides and addresses; so equal numbers give
    equal bits however they lie.
    """
    x = x.contiguous()
    return x.clone() if x.device.type == "cpu" and x.data_ptr() % LINE else x


def precision(dtype: torch.dtype | str) -> str:
    """``input_precision`` of tl.dot: three tf32 products for float32, as exact as float32."""
    if interpreting() or torch.version.hip is not None:
        return "ieee"           # the interpreter knows no tf32, and some AMD targets refuse it
    return "tf32x3" if dtype in (torch.float32, "float32") else "tf32"


def product(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
    """a @ b in float32, whatever goes in; on a GPU without a float32 copy of the operands."""
    if a.is_cuda and a.dtype != torch.float32:
        options = {} if out is None else {"out": out}
        return torch.mm(a, b, out_dtype=torch.float32, **options)
    return torch.mm(a.float(), b.float(), out=out)


def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a @ b in place, total in float32; without a second matrix of that size."""
    if a.is_cuda and a.dtype != torch.float32:
        torch.addmm(total, a, b, out_dtype=torch.float32, out=total)
    else:
        total.addmm_(a.float(), b.float())


def rows_per_block(n: int, columns: int) -> int:
    """Rows of a block of float32 products: full speed first, 256 MB at most."""
    wanted = max(FULL_RATE_ROWS, CACHE_BYTES // (4 * columns))
    return max(1, min(n, wanted, MOST_BYTES // (4 * columns)))


def padded_width(n: int) -> int:
    """n rounded up to a multiple of 16 numbers: the width of a row that a kernel may read whole."""
    return -(-n // ALIGNMENT) * ALIGNMENT


def row_products(a: Tensor, b: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Blocks of rows of a @ b.T, never the whole.

    Yields (rows, products in float32, workspace in a's type for what is made of them), both of
    shape (rows, m) with a row stride of ``padded_width(m)``, so a kernel may read and write whole
    aligned rows. What lies in the padding is undefined. The next block overwrites both.
    """
    m, step, width = len(b), rows_per_block(len(a), len(b)), padded_width(len(b))
    dots = torch.empty(step, width, dtype=torch.float32, device=a.device)
    workspace = torch.empty(step, width, dtype=a.dtype, device=a.device)
    for start in range(0, len(a), step):
        rows = slice(start, min(len(a), start + step))
        block = dots[: rows.stop - start, :m]
        yield rows, product(a[rows], b.T, out=block), workspace[: rows.stop - start, :m]
