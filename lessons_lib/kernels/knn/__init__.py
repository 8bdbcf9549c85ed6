"""Nearest neighbours: for each query the k rows of highest cosine or smallest distance, of all.

A product of matrices finds the candidates in float32, with a bound for what rounding can do; those
that the bound cannot rule out are scored again in float64. So every implementation returns the same
rows in the same order. Used by analogies in ``04_word2vec`` and the neighbour distances of
``09_anisotropy``; its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_choice, check_int, check_memory
from ..autograd import result_type
from ..contents import check_finite
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, check_same_width

__all__ = ["OPERATION", "knn"]

OPERATION = Operation("knn", dot=True)
METRICS = ("cosine", "l2")
MOST_NEIGHBOURS = 64            # what the kernel's running list holds in registers
WORTH_A_KERNEL = 50_000         # rows of x from which a running list beats blocks with torch.topk


def knn(query: Any, x: Any, *, k: int, metric: str = "cosine", exclude_self: bool = False,
        backend: str | None = None) -> tuple[Tensor, Tensor]:
    """The k nearest rows of x for every query row, nearest first; of equals the lower row first.

    Parameters
    ----------
    query : (m, d) floating, finite
    x : (n, d) floating, finite, of query's type
    k : int in [1, n], or [1, n - 1] with exclude_self
    metric : {"cosine", "l2"}, default "cosine"
    exclude_self : bool, default False
        For query = x: row i never returns row i.
    backend : {"triton", "cpu", "reference"}, optional
        "triton" takes k <= 64.

    Returns
    -------
    values : Tensor, (m, k)
        Cosines falling or distances rising, in x's type (float32 for half types). No gradient.
    indices : int64 Tensor, (m, k)

    Raises
    ------
    ValueError
        Shape, k above the rows there are, NaN, metric, backend.
    TypeError
        Not floating, two types.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    cosine: q·x_j / (‖q‖ ‖x_j‖), 0 with a zero vector; l2: ‖q - x_j‖. Order and values are those of
    float64 scores of the numbers as given, on every backend but "reference", which computes in
    float32 or float64 as given. Memory: for "l2" a centred copy of query and x, for half types on a
    processor a float32 copy; beyond that blocks of about 2 million scores (67 million on a GPU),
    never m x n. Many copies of one row cost time, not accuracy: a query whose place k lies among
    more equals than were kept is compared with all of them in float64.

    Examples
    --------
    >>> values, indices = knn([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], k=2)
    >>> indices.tolist()
    [[1, 2]]
    """
    same = query is x
    x = as_vectors("x", x)
    query = x if same else as_vectors("query", query, min_rows=0)
    check_same_width(query, x, names=("query", "x"))
    check_choice("metric", metric, METRICS)
    m, n, exclude_self = len(query), len(x), bool(exclude_self)
    if exclude_self and m != n:
        raise ValueError(f"exclude_self=True with {m} query rows and {n} rows of x; expected as "
                         "many, row i of both the same item")
    available = n - exclude_self
    if check_int("k", k) > available:
        without = " without the query itself" if exclude_self else ""
        raise ValueError(f"k={k} is more than x has: {n} rows, {available} available{without}; "
                         f"expected k in [1, {available}]")
    if not x.is_cuda:
        check_memory(f"{k:,} neighbours of {m:,} rows", 12 * k * m, f"Lower k={k}")
    return _knn(query.detach(), x.detach(), int(k), metric, exclude_self, backend_name(backend))


@torch.library.custom_op("lessons_lib::knn", mutates_args=())
def _knn(query: Tensor, x: Tensor, k: int, metric: str, exclude_self: bool,
         backend: str) -> tuple[Tensor, Tensor]:
    check_finite("x", x)
    check_finite("query", query)
    limit = no_gain = None
    if k > MOST_NEIGHBOURS:
        limit = (f"k={k} is above {MOST_NEIGHBOURS}, the longest list the kernel keeps in "
                 "registers")
    if len(x) < WORTH_A_KERNEL:
        no_gain = (f"x has {len(x):,} rows: below {WORTH_A_KERNEL:,} blocks of products are as "
                   "fast")
    return OPERATION.run("nearest", query, x, k=k, metric=metric, exclude_self=exclude_self,
                         backend=backend or None, limit=limit, no_gain=no_gain)


@_knn.register_fake
def _shapes(query: Tensor, x: Tensor, k: int, metric: str, exclude_self: bool,
            backend: str) -> tuple[Tensor, Tensor]:
    size = (len(query), k)
    return query.new_empty(size, dtype=result_type(x)), query.new_empty(size, dtype=torch.int64)
