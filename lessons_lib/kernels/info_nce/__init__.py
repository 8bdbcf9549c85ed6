"""InfoNCE: the loss of finding, among all keys, the one that belongs to a query.

A softmax over the similarities of a query with every key, and the log of the share that its own key gets: pulling pairs together and pushing
everything else apart in one number. n queries and m keys have n x m similarities; no implementation here but the formula keeps them all. Taught in
``14_simcse``, its kernels in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import torch
from torch import Tensor

from ...core import check_float
from ..autograd import gradient_type, register_scalar_loss
from ..dispatch import Operation, backend_name
from ..inputs import as_indices, as_vectors, check_indices, check_same_width, wants_gradient

__all__ = ["OPERATION", "info_nce"]

OPERATION = Operation("info_nce", dot=True)
LARGEST = torch.finfo(torch.float32).max


def info_nce(query: Any, key: Any, *, temperature: float = 0.05, positive: Any = None, hard_negative: Any = None, hard_weight: float = 0.0,
             symmetric: bool = False, backend: str | None = None) -> Tensor:
    """Mean cross-entropy of picking its own key for every query, all other keys being wrong answers.

        L = 1/n Σ_i ( log Σ_j exp(s_ij + h_ij) - s_ip ),    s_ij = query_i·key_j / temperature,    p = positive_i,
        h_ij = hard_weight where j = hard_negative_i, else 0
        ∂L/∂query_i = Σ_j g_ij key_j,    ∂L/∂key_j = Σ_i g_ij query_i,    g_ij = (softmax(s_i + h_i)_j - [j = p]) / (n temperature)

    With ``symmetric`` the mean of both directions: for every query also its own key against all queries, log Σ_a exp(s_ap) - s_ip; hard weights
    belong to the first direction only.

    Parameters: query, (n, d), and key, (m, d), floating, taken as they are: scale the rows to length 1 first where s is to be a cosine;
    temperature > 0, its inverse finite in float32; positive, (n,) row of key that belongs to each query, default row i for query i, the rows from n
    on being further negatives (after a gather: rank * n + i); hard_negative, (n,) row of key that counts alpha = exp(hard_weight) times for its
    query, -inf drops it; backend, "triton", "cpu" or "reference". Row numbers on a GPU are trusted: looking at them would make it wait.
    Returns a scalar >= 0 in the inputs' type (float32 for half types), differentiable once. Memory beyond the inputs and their
    gradients: blocks of a fixed number of logits, never n x m. NaN gives NaN.
    Raises ValueError (shapes, fewer than 2 pairs, row numbers, a hard negative that is the positive, positives that repeat with ``symmetric``,
    hard_weight without hard_negative, temperature, backend), TypeError (not floating, two types), BackendUnavailable.
    [oord2018representation; gao2021simcse; radford2021learning]

    >>> info_nce([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], temperature=1.0).item()    # log(1 + 1/e)
    0.31326168751822286
    """
    query, key = as_vectors("query", query), as_vectors("key", key)
    check_same_width(query, key, names=("query", "key"))
    temperature, hard_weight = _checked_temperature(temperature), _checked_weight(hard_weight, hard_negative is not None)
    _check_pairs(len(query), len(key), default=positive is None, symmetric=symmetric)
    rows = {"n": len(query), "high": len(key), "device": query.device}
    positive = torch.arange(len(query), device=query.device) if positive is None else as_indices("positive", positive, **rows)
    hard_negative = None if hard_negative is None else as_indices("hard_negative", hard_negative, **rows)
    chosen = {"temperature": temperature, "hard_weight": hard_weight, "symmetric": bool(symmetric), "query_gradient": wants_gradient(query),
              "key_gradient": wants_gradient(key), "backend": backend_name(backend)}
    learns = chosen["query_gradient"] or chosen["key_gradient"] or torch.compiler.is_compiling()
    work = _info_nce if learns else _run            # measuring: the registered operation loads torch's compiler
    return work(query, key, positive, hard_negative, **chosen)[0]


def _checked_temperature(value: float) -> float:
    temperature = check_float("temperature", value, low=0, open_low=True)
    if 1 / temperature > LARGEST:
        raise ValueError(f"temperature={temperature!r} is too small; expected 1/temperature finite in float32, that is temperature >= 3e-39. "
                         "0.05 is usual for cosines")
    return temperature


def _checked_weight(value: float, has_negatives: bool) -> float:
    dropped = isinstance(value, numbers.Real) and value == -math.inf
    weight = -math.inf if dropped else check_float("hard_weight", value, low=-LARGEST, high=LARGEST)
    if weight != 0 and not has_negatives:
        raise ValueError(f"hard_weight={weight!r} without hard_negative; expected the rows of key it belongs to. Pass hard_negative=")
    return weight


def _check_pairs(n: int, m: int, *, default: bool, symmetric: bool) -> None:
    if m < 2 or (symmetric and n < 2):
        raise ValueError(f"{n} query rows and {m} key rows; expected >= 2 pairs: with one candidate the loss is 0 whatever the vectors are. "
                         "Join a last batch of one to the batch before")
    if default and m < n:
        raise ValueError(f"key has {m} rows and query has {n}; without positive= query i belongs to key i: expected >= {n} keys. "
                         "Name the pairs: positive=")


def _check_rows(positive: Tensor, hard_negative: Tensor | None, *, distinct: bool) -> None:
    """No hard negative is its query's positive; with ``distinct`` no key is the positive of two queries. Looks on a CPU only, where it is free."""
    if positive.device.type != "cpu":
        return
    same = torch.nonzero(positive == hard_negative) if hard_negative is not None else ()
    if len(same):
        i = int(same[0])
        raise ValueError(f"hard_negative[{i}]={int(positive[i])} is the positive of the same query; expected another row of key")
    if distinct and len(torch.unique(positive)) < len(positive):
        repeated = int(torch.nonzero(torch.bincount(positive) > 1)[0])
        queries = torch.nonzero(positive == repeated).flatten().tolist()
        raise ValueError(f"positive[{queries[1]}]={repeated} is the positive of query {queries[0]} too; expected a key of its own for every query "
                         "with symmetric=True. Drop the repeats, or use symmetric=False")


def _run(query: Tensor, key: Tensor, positive: Tensor, hard_negative: Tensor | None, *, temperature: float, hard_weight: float, symmetric: bool,
         query_gradient: bool, key_gradient: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    """Loss and both gradients, an empty tensor for one that nobody asked for."""
    _check_rows(positive, hard_negative, distinct=symmetric)
    query, key, dquery, dkey = query.detach(), key.detach(), None, None
    options = {"positive": positive, "hard_negative": hard_negative, "temperature": temperature, "hard_weight": hard_weight, "symmetric": symmetric}
    if query_gradient or key_gradient:
        wanted = (query_gradient, key_gradient)
        loss, dquery, dkey = OPERATION.run("value_and_gradient", query, key, wanted=wanted, backend=backend or None, **options)
    else:
        loss = OPERATION.run("info_nce", query, key, backend=backend or None, **options)
    return loss, query.new_empty(0) if dquery is None else dquery, key.new_empty(0) if dkey is None else dkey


@torch.library.custom_op("lessons_lib::info_nce", mutates_args=())
def _info_nce(query: Tensor, key: Tensor, positive: Tensor, hard_negative: Tensor | None, *, temperature: float, hard_weight: float,
              symmetric: bool, query_gradient: bool, key_gradient: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    for name, rows in (("positive", positive), ("hard_negative", hard_negative)):       # a compiled function brings them here unseen
        if rows is not None:
            check_indices(name, rows, high=len(key))
    return _run(query, key, positive, hard_negative, temperature=temperature, hard_weight=hard_weight, symmetric=symmetric,
                query_gradient=query_gradient, key_gradient=key_gradient, backend=backend)


@_info_nce.register_fake
def _shapes(query: Tensor, key: Tensor, positive: Tensor, hard_negative: Tensor | None, *, temperature: float, hard_weight: float,
            symmetric: bool, query_gradient: bool, key_gradient: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    gradients = [x.new_empty(x.shape, dtype=gradient_type(x.dtype)) if asked else x.new_empty(0)
                 for x, asked in ((query, query_gradient), (key, key_gradient))]
    return query.new_empty((), dtype=torch.promote_types(query.dtype, torch.float32)), *gradients


register_scalar_loss(_info_nce, inputs=2)
