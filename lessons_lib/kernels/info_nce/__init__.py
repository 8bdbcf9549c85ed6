"""InfoNCE: the loss of finding, among all keys, the one that belongs to a query.

A softmax over the similarities of a query with every key, and the log of the share that its own key
gets: pulling pairs together and pushing everything else apart in one number. n queries and m keys
have n x m similarities; no implementation here but the formula keeps them all. Taught in
``14_simcse``, its kernels in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import torch
from torch import Tensor

from ...core import check_float
from ..autograd import scalar_loss
from ..contents import as_indices, check_indices
from ..dispatch import Operation
from ..inputs import as_vectors, check_same_width

__all__ = ["OPERATION", "info_nce"]

OPERATION = Operation("info_nce", dot=True)
LARGEST = torch.finfo(torch.float32).max


def info_nce(query: Any, key: Any, *, temperature: float = 0.05, positive: Any = None,
             hard_negative: Any = None, hard_weight: float = 0.0, symmetric: bool = False,
             backend: str | None = None) -> Tensor:
    """Mean cross-entropy of picking its own key for every query; all other keys are wrong.

    Parameters
    ----------
    query : (n, d) floating
    key : (m, d) floating, of query's type
        Both taken as they are: scale the rows to norm 1 first where s is to be a cosine. NaN gives
        NaN.
    temperature : float > 0, default 0.05
        Its inverse has to be finite in float32.
    positive : (n,) ints in [0, m), default row i for query i
        Row of key that belongs to each query; with the default the rows from n on are further
        negatives (after a gather: rank * n + i). Row numbers on a GPU are trusted: looking at them
        would make it wait.
    hard_negative : (n,) ints in [0, m), optional
        Row of key that counts exp(hard_weight) times for its query.
    hard_weight : float, default 0.0
        -inf drops the hard negative.
    symmetric : bool, default False
        The mean of both directions: for every query also its own key against all queries.
    backend : {"triton", "cpu", "reference"}, optional

    Returns
    -------
    scalar Tensor
        >= 0, in the inputs' type (float32 for half types), differentiable once.

    Raises
    ------
    ValueError
        Shapes, fewer than 2 pairs, row numbers, a hard negative that is the positive, positives
        that repeat with symmetric, hard_weight without hard_negative, temperature, backend.
    TypeError
        Not floating, two types.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    ::

        L = 1/n Σ_i ( log Σ_j exp(s_ij + h_ij) - s_ip ),   s_ij = query_i·key_j / temperature
            p = positive_i,   h_ij = hard_weight where j = hard_negative_i, else 0
        ∂L/∂query_i = Σ_j g_ij key_j,   ∂L/∂key_j = Σ_i g_ij query_i
            g_ij = (softmax(s_i + h_i)_j - [j = p]) / (n temperature)

    The second direction of ``symmetric`` is log Σ_a exp(s_ap) - s_ip, without hard weights. Memory
    beyond the inputs and their gradients: blocks of a fixed number of logits, never n x m.
    [oord2018representation; gao2021simcse; radford2021learning]

    Examples
    --------
    >>> x = [[1.0, 0.0], [0.0, 1.0]]
    >>> info_nce(x, x, temperature=1.0).item()              # log(1 + 1/e)
    0.31326168751822286
    """
    query, key = as_vectors("query", query), as_vectors("key", key)
    check_same_width(query, key, names=("query", "key"))
    temperature = check_float("temperature", temperature, low=0, open_low=True)
    if 1 / temperature > LARGEST:
        raise ValueError(f"temperature={temperature!r} is too small; expected 1/temperature finite "
                         "in float32, that is temperature >= 3e-39. 0.05 is usual for cosines")
    dropped = isinstance(hard_weight, numbers.Real) and hard_weight == -math.inf
    hard_weight = -math.inf if dropped else check_float("hard_weight", hard_weight, low=-LARGEST,
                                                        high=LARGEST)
    if hard_weight != 0 and hard_negative is None:
        raise ValueError(f"hard_weight={hard_weight!r} without hard_negative; expected the rows of "
                         "key it belongs to. Pass hard_negative=")
    n, m = len(query), len(key)
    if m < 2 or (symmetric and n < 2):
        raise ValueError(f"{n} query rows and {m} key rows; expected >= 2 pairs: with one "
                         "candidate the loss is 0 whatever the vectors are. Join a last batch of "
                         "one to the batch before")
    if positive is None and m < n:
        raise ValueError(f"key has {m} rows and query has {n}; without positive= query i belongs "
                         f"to key i: expected >= {n} keys. Name the pairs: positive=")
    rows = {"n": n, "high": m, "device": query.device}
    positive = (torch.arange(n, device=query.device) if positive is None
                else as_indices("positive", positive, **rows))
    if hard_negative is not None:
        hard_negative = as_indices("hard_negative", hard_negative, **rows)
    return _loss(query, key, positive, hard_negative, temperature, hard_weight, bool(symmetric),
                 backend=backend)


def _check_rows(query: Tensor, key: Tensor, *, positive: Tensor, hard_negative: Tensor | None,
                symmetric: bool, **_: Any) -> None:
    """Row numbers are rows, no hard negative is its query's positive, and with ``symmetric`` no
    key is the positive of two queries. Looks on a CPU only, where it is free."""
    for name, rows in (("positive", positive), ("hard_negative", hard_negative)):
        if rows is not None:                # a compiled function brings them here unseen
            check_indices(name, rows, high=len(key))
    if positive.device.type != "cpu":
        return
    same = torch.nonzero(positive == hard_negative) if hard_negative is not None else ()
    if len(same):
        i = int(same[0])
        raise ValueError(f"hard_negative[{i}]={int(positive[i])} is the positive of the same "
                         "query; expected another row of key")
    if symmetric and len(torch.unique(positive)) < len(positive):
        repeated = int(torch.nonzero(torch.bincount(positive) > 1)[0])
        queries = torch.nonzero(positive == repeated).flatten().tolist()
        raise ValueError(f"positive[{queries[1]}]={repeated} is the positive of query "
                         f"{queries[0]} too; expected a key of its own for every query with "
                         "symmetric=True. Drop the repeats, or use symmetric=False")


_loss = scalar_loss(OPERATION, ("query", "key"), check=_check_rows, positive="Tensor",
                    hard_negative="Tensor?", temperature="float", hard_weight="float",
                    symmetric="bool")
